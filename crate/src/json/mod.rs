//! JSON as it passes through: framed, pointed into, quoted and unquoted, never parsed into
//! values.

mod pointer;
mod scan;
mod string;

pub use pointer::Pointer;
pub use scan::{JsonFault, skip_space, skip_value};
pub use string::{LoneSurrogate, push_string, unquote};
