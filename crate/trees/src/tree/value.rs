//! Values stored out of line: written and read piece by piece.

use crate::cache::{Cache, Fetch};
use crate::chunk::{self, ChunkKind};
use crate::error::{DecodeError, Error, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::limits::PIECE_BYTES;
use crate::segment::{Packer, Stream};
use crate::step::Step;
use crate::value::Far;
use alloc::vec::Vec;

/// Packs the pieces of a value, and their list when there are several.
pub fn put_value(packer: &mut Packer, value: &[u8]) -> Far {
    let mut list = Vec::new();
    let mut hash = Hash::ZERO;
    for part in value.chunks(PIECE_BYTES) {
        hash = packer.put(Stream::Value, |out| {
            out.extend_from_slice(&ChunkKind::Piece.header());
            out.extend_from_slice(part);
        });
        list.extend_from_slice(&hash.0);
    }
    if list.len() > HASH_BYTES {
        hash = packer.put(Stream::Value, |out| {
            out.extend_from_slice(&ChunkKind::PieceList.header());
            out.extend_from_slice(&list);
        });
    }
    Far { len: value.len() as u32, hash }
}

/// Appends the value at an address to a buffer. Holds at most the list of its pieces.
#[derive(Clone, Debug)]
pub struct ValueReader {
    far: Far,
    pieces: Option<Vec<Hash>>,
    next: usize,
    read: usize,
}

impl ValueReader {
    /// A reader of the value at `far`.
    #[must_use]
    pub const fn new(far: Far) -> Self {
        Self { far, pieces: None, next: 0, read: 0 }
    }

    /// Appends to `out` until the value is complete. Call it with the same buffer each time.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, out: &mut Vec<u8>) -> Result<Step<()>, Error> {
        let len = self.far.len as usize;
        let pieces = match &self.pieces {
            Some(pieces) => pieces,
            None if chunk::pieces_of(len) == 1 => self.pieces.insert(Vec::from([self.far.hash])),
            None => {
                let check = |bytes: &[u8]| chunk::piece_list(bytes, len).map(|_| ());
                match cache.chunk(&self.far.hash, check)? {
                    Fetch::At(id) => return Ok(Step::Need(Vec::from([id]))),
                    Fetch::Here(bytes) => {
                        let list = chunk::piece_list(bytes, len).unwrap_or_default();
                        self.pieces.insert(list)
                    }
                }
            }
        };
        while let Some(hash) = pieces.get(self.next) {
            let part = match cache.chunk(hash, |bytes| chunk::piece(bytes).map(|_| ()))? {
                Fetch::At(id) => {
                    return Ok(Step::Need(cache.ahead(id, pieces[self.next..].iter())?));
                }
                Fetch::Here(bytes) => chunk::piece(bytes).unwrap_or_default(),
            };
            let expected = (len - self.read).min(PIECE_BYTES);
            if part.len() != expected {
                let cause = DecodeError::new(Field::Length, 2, expected as u64, part.len() as u64);
                return Err(Error::CorruptChunk { hash: *hash, cause: Some(cause) });
            }
            out.extend_from_slice(part);
            self.read += part.len();
            self.next += 1;
        }
        Ok(Step::Done(()))
    }
}
