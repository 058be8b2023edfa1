//! Writes and reads values out of line piece by piece, within a budget.

use crate::cache::{Cache, Fetch};
use crate::chunk::{self, ChunkKind};
use crate::error::{DecodeError, Error, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::limits::PIECE_BYTES;
use crate::segment::{Packer, Stream};
use crate::step::{Budget, Step};
use crate::value::ValueRef;
use alloc::vec::Vec;

/// Packs the pieces of a value, and their list if there are several, at once.
pub fn put_value(packer: &mut Packer, value: &[u8]) -> ValueRef {
    let written = ValueWriter::default().step(packer, value, &mut Budget::of(usize::MAX));
    // An unlimited budget is never spent.
    written.unwrap_or(ValueRef { len: 0, hash: Hash::ZERO })
}

/// Packs a chunk of a value.
#[inline(never)]
fn put(packer: &mut Packer, kind: ChunkKind, bytes: &[u8]) -> Hash {
    packer.put(Stream::Value, |out| {
        out.extend_from_slice(&kind.header());
        out.extend_from_slice(bytes);
    })
}

/// Packs a value piece by piece. Keeps the list of its pieces in memory.
#[derive(Clone, Debug, Default)]
pub struct ValueWriter {
    list: Vec<u8>,
}

impl ValueWriter {
    /// Packs at least one piece. Returns a reference once the value is complete; the writer is then ready
    /// for another value. Until then, call it with the same value. Costs a copy and a hash of each piece.
    pub fn step(
        &mut self,
        packer: &mut Packer,
        value: &[u8],
        budget: &mut Budget,
    ) -> Option<ValueRef> {
        let Self { list } = self;
        let done = list.len() / HASH_BYTES;
        for (at, part) in value.chunks(PIECE_BYTES).enumerate().skip(done) {
            if at > done && budget.is_spent() {
                return None;
            }
            budget.spend(2 * part.len());
            list.extend_from_slice(&put(packer, ChunkKind::Piece, part).0);
        }
        let is_one = list.len() == HASH_BYTES;
        let hash = if is_one { Hash::read(list) } else { put(packer, ChunkKind::PieceList, list) };
        list.clear();
        Some(ValueRef { len: value.len() as u32, hash })
    }
}

/// Appends a value out of line to a buffer. Keeps the list of its pieces in memory.
///
/// ```
/// use hedgerow_trees::cache::Cache;
/// use hedgerow_trees::segment::Packer;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{ValueReader, put_value};
///
/// let mut packer = Packer::new();
/// let value_ref = put_value(&mut packer, &[7; 1_000_000]);
/// packer.seal();
/// let mut cache = Cache::default();
/// for (id, segment) in (1..).zip(packer.take_sealed()) {
///     cache.add_fresh(id, segment);
/// }
/// let (mut reader, mut value) = (ValueReader::new(value_ref), Vec::new());
/// let step = reader.step(&cache, &mut Budget::of(usize::MAX), &mut value);
/// assert_eq!((step, value), (Ok(Step::Done(())), vec![7; 1_000_000]));
/// ```
#[derive(Clone, Debug)]
pub struct ValueReader {
    value_ref: ValueRef,
    pieces: Option<Vec<Hash>>,
    next: usize,
    read: usize,
}

impl ValueReader {
    /// Makes a reader of the value at `value_ref`.
    #[must_use]
    pub const fn new(value_ref: ValueRef) -> Self {
        Self { value_ref, pieces: None, next: 0, read: 0 }
    }

    /// Appends at least one piece to `out`, until the value is complete. Call it with the same buffer each
    /// time. Costs a copy of each piece, and a hash of each that was not checked before.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Vec<u8>,
    ) -> Result<Step<()>, Error> {
        let len = self.value_ref.len as usize;
        let malformed = |hash, cause| Error::CorruptChunk { hash, cause: Some(cause) };
        let pieces = match &self.pieces {
            Some(pieces) => pieces,
            None if chunk::pieces_of(len) == 1 => {
                self.pieces.insert(Vec::from([self.value_ref.hash]))
            }
            None => {
                let hash = self.value_ref.hash;
                match cache.chunk(&hash, ChunkKind::PieceList)? {
                    Fetch::At(want) => return Ok(Step::Need(Vec::from([want]))),
                    Fetch::Here(bytes) => {
                        let list = chunk::piece_list(bytes, len);
                        self.pieces.insert(list.map_err(|cause| malformed(hash, cause))?)
                    }
                }
            }
        };
        let first = self.next;
        while let Some(hash) = pieces.get(self.next) {
            // Read at least one piece, as the caller may have spent the budget already.
            if self.next > first && budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let part = match cache.chunk(hash, ChunkKind::Piece)? {
                Fetch::At(want) => {
                    return Ok(Step::Need(cache.parts_ahead(want, pieces[self.next..].iter())));
                }
                Fetch::Here(bytes) => &bytes[chunk::HEADER_BYTES..],
            };
            let expected = (len - self.read).min(PIECE_BYTES);
            if part.len() != expected {
                let cause = DecodeError::new(Field::Length, 2, expected as u64, part.len() as u64);
                return Err(malformed(*hash, cause));
            }
            out.extend_from_slice(part);
            budget.spend(part.len());
            self.read += part.len();
            self.next += 1;
        }
        Ok(Step::Done(()))
    }
}
