//! Deltas: the edits of one step, from the rows of one commit to the rows of another, as bytes.
//!
//! [`MakeDelta`] walks two trees of rows and writes the edits between them. [`ApplyDelta`] reads such bytes,
//! which may be hostile, and hands their edits to an ingest: from there on they are a change like any other.
//! A delta names no root. Its receiver compares the root of the resulting rows with the promised one, before
//! it stores the commit.
//!
//! ```text
//! delta    "HDGD" | version:u8 = 1 | edit ... | end
//! edit     head:varint | shared:varint | rest of the key | for a put: length:varint | value
//!   head   bits 0 and 1: 1 put of JSON · 2 put of bytes · 3 delete; above them the bytes of the rest of the key
//! end      0:u8 | edits:varint
//! ```
//!
//! Keys strictly ascend. `shared` counts all first bytes that a key has in common with the one before it. A
//! varint has seven bits a byte, lowest first, in as few bytes as possible. So one set of edits has one
//! encoding.

mod apply;
mod decode;
mod encode;
mod make;

pub use apply::{ApplyDelta, DeltaError};
pub use decode::{Decoder, Next};
pub use encode::Encoder;
pub use make::{Made, MakeDelta};

/// The first bytes of a delta.
pub const MAGIC: [u8; 4] = *b"HDGD";

/// The version of the format.
pub const VERSION: u8 = 1;

/// Bytes before the first edit.
const HEADER_BYTES: usize = MAGIC.len() + 1;

/// The lowest bits of the head of an edit.
mod op {
    pub const END: u32 = 0;
    pub const PUT_JSON: u32 = 1;
    pub const PUT_BYTES: u32 = 2;
    pub const DELETE: u32 = 3;
    /// The number of these bits.
    pub const BITS: u32 = 2;
}

/// Most bytes of a varint: all of them have 32 bits.
const MAX_VARINT_BYTES: usize = 5;
