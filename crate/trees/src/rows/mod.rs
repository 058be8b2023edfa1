//! Readers of rows: blocks that the wrapper printed, or untrusted bytes.

mod block;
mod bytes;
mod columns;
mod framer;
mod framing;
#[cfg(test)]
mod hostile;
mod operation;

pub use block::{Block, ByteValue, Format};
pub use bytes::Bytes;
pub use columns::Columns;
pub use framing::Framing;
pub use operation::{DROPS, UPDATE_HEADER_BYTES};

use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::json::{JsonFault, unquote};
use crate::key::Key;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The next item of a reader.
#[derive(Debug)]
pub enum Next<'a> {
    /// A row; its key was appended to the given buffer. It stays the next one until
    /// [`Reader::advance`].
    Row(Edit<'a>),
    /// Deletes all rows. It stays the next one until [`Reader::advance`].
    Clear,
    /// No further row until the reader is fed again.
    More,
}

/// Reads rows of either source.
#[derive(Debug)]
pub enum Reader {
    /// Blocks of the wrapper.
    Block(Box<Block>),
    /// A stream of bytes.
    Bytes(Box<Bytes>),
}

impl Reader {
    /// Finds the next row, whose number is `row`, and appends its key to `key`. Costs a pass over the row,
    /// unless it was found before.
    ///
    /// # Errors
    /// [`Error::Row`], with the offset in the block or in the stream of bytes.
    pub fn peek(&mut self, row: u64, key: &mut Vec<u8>) -> Result<Next<'_>, Error> {
        match self {
            Self::Block(block) => block.peek(row, key),
            Self::Bytes(bytes) => bytes.peek(row, key),
        }
    }

    /// Continues after the current row.
    pub fn advance(&mut self) {
        match self {
            Self::Block(block) => block.advance(),
            Self::Bytes(bytes) => bytes.advance(),
        }
    }

    /// Takes the cost of reading since the last call, in bytes of work.
    pub const fn take_cost(&mut self) -> usize {
        let cost = match self {
            Self::Block(block) => &mut block.cost,
            Self::Bytes(bytes) => &mut bytes.cost,
        };
        core::mem::replace(cost, 0)
    }

    /// Returns whether it has read everything that it was fed.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        match self {
            Self::Block(block) => block.is_spent(),
            Self::Bytes(bytes) => bytes.is_spent(),
        }
    }
}

const fn fault_of(fault: JsonFault) -> (usize, RowFault) {
    match fault {
        JsonFault::Syntax(offset) => (offset, RowFault::Syntax),
        JsonFault::TooDeep(offset) => (offset, RowFault::TooDeep),
        JsonFault::TooLarge(offset) => (offset, RowFault::NumberTooLarge),
    }
}

/// Appends `prefix` and the string in the JSON text `text`, which is UTF-8: together a [`Key`].
///
/// # Errors
/// If the text is not a string, has half of a surrogate pair, or the key is too long.
pub fn read_key(text: &[u8], prefix: &[u8], key: &mut Vec<u8>) -> Result<(), RowFault> {
    if text.first() != Some(&b'"') {
        return Err(RowFault::KeyNotString);
    }
    let start = key.len();
    key.extend_from_slice(prefix);
    unquote(text, key).map_err(|_| RowFault::KeyLoneSurrogate)?;
    Key::of_text(&key[start..]).map(|_| ()).map_err(|_| RowFault::KeyTooLong)
}

/// Writes the header of an update, for which bytes were left at its start.
fn write_header(update: &mut [u8], row: u64, offset: u64) {
    update[..8].copy_from_slice(&row.to_le_bytes());
    update[8..UPDATE_HEADER_BYTES].copy_from_slice(&offset.to_le_bytes());
}
