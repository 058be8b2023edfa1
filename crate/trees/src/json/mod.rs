//! JSON text: framed, searched by pointers, quoted and unquoted, and brought to normal form, but
//! never parsed into values.

mod constraints;
mod decimal;
mod members;
mod name;
mod normal;
mod number;
mod number_form;
mod order;
mod pointer;
mod string;
mod text;
mod token;
mod walk;

pub use constraints::Constraints;
pub use members::{Members, append_members};
pub use name::is_string;
pub use normal::{Scanned, Scanner};
pub use number::{double, push_double};
pub use pointer::Pointer;
pub use string::{LoneSurrogate, normalize_string, push_string, push_unit, unquote};
pub use text::{Printed, TextFault, check_text};
pub use token::{JsonFault, skip_space};
pub use walk::skip_value;
