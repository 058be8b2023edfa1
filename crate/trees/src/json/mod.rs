//! JSON as it passes through: framed, pointed into, quoted and unquoted, brought to normal
//! form, never parsed into values.

mod constraints;
mod decimal;
mod members;
mod normal;
mod number;
mod pointer;
mod scan;
mod string;

pub use constraints::Constraints;
pub use members::{Members, append_members};
pub use normal::{Scanned, Scanner};
pub use number::{double, push_double};
pub use pointer::Pointer;
pub use scan::{JsonFault, skip_space, skip_value};
pub use string::{LoneSurrogate, push_string, unquote};
