//! JSON as it passes through: framed, pointed into, quoted and unquoted, brought to normal
//! form, never parsed into values.

mod decimal;
mod form;
mod members;
mod name;
mod normal;
mod number;
mod pointer;
mod scan;
mod string;
mod text;
mod walk;

pub use members::{Members, append_members, keep_members};
pub use name::is_string;
pub use normal::{Scanned, Scanner};
pub use number::{double, push_double};
pub use pointer::Pointer;
pub use scan::{JsonFault, skip_space, skip_value};
pub use string::{LoneSurrogate, push_string, unquote};
pub use text::{Printed, TextFault, check_text};
