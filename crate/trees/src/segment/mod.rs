//! Segments: many chunks packed into one stored record, and the table that finds them.
//!
//! ```text
//! segment  n x chunk, one after the other, some of them packed
//! table    "HDGT" | version:u8 | streams:u8 | here:u16 | n:u32 | n x hash:32
//!                 | n x end of the chunk in the segment:u32 | n x length of the chunk:u32
//! ```
//!
//! A segment has the first `here` chunks of its table, all of them where that is 0. The others are known to be at
//! a remote: their ends give their lengths, too. See `docs/lazy.md`.

mod lz4;
mod packed;
mod packer;
mod table;

pub use packer::{Packer, Sealed};
pub use table::{Stream, TABLE_ENTRY_BYTES, Table};
