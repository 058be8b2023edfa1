//! The table of a segment: reading it, and finding chunks by it.

use super::packed::unpack;
use crate::chunk::VERSION;
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::le::{u16_at, u32_at};
use crate::limits::{MAX_PACKED_CHUNK_BYTES, MAX_SEGMENT_CHUNKS};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

pub(super) const MAGIC: [u8; 4] = *b"HDGT";
pub(super) const TABLE_HEADER_BYTES: usize = 12;
/// The bits of all streams in a table.
const ALL_STREAMS: u8 = 0b111;
/// Bytes of a chunk in a table.
pub const TABLE_ENTRY_BYTES: usize = HASH_BYTES + 4 + 4;

/// Which chunks share a segment. Descents read internal nodes, scans read leaves, and large values are
/// read rarely: so each kind has its own segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Leaves.
    Leaf = 0,
    /// Internal nodes, commits, and pieces of sum trees.
    Inner = 1,
    /// Values stored out of line.
    Value = 2,
}

/// The table of a segment, checked.
#[derive(Clone, Debug)]
pub struct Table {
    bytes: Vec<u8>,
    count: usize,
    /// The number of chunks that the segment has, at least 1. The chunks after them are at a remote.
    here: usize,
}

impl Table {
    /// Makes the table of a segment that has all of its `count` chunks, from bytes that were just made.
    pub(super) const fn of_all_here(bytes: Vec<u8>, count: usize) -> Self {
        Self { bytes, count, here: count }
    }

    /// Returns the table as it is stored.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Checks and takes `bytes`. Costs one pass over the offsets.
    ///
    /// # Errors
    /// The first fault. Hashes cannot be checked here.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let got = bytes.len() as u64;
        if bytes.len() < TABLE_HEADER_BYTES {
            return Err(DecodeError::new(Field::Length, 0, TABLE_HEADER_BYTES as u64, got));
        }
        if bytes[..4] != MAGIC {
            let expected = u32::from_le_bytes(MAGIC).into();
            return Err(DecodeError::new(Field::Kind, 0, expected, u32_at(&bytes, 0).into()));
        }
        if bytes[4] != VERSION {
            return Err(DecodeError::new(Field::Version, 4, VERSION.into(), bytes[4].into()));
        }
        if bytes[5] > ALL_STREAMS {
            return Err(DecodeError::new(Field::Kind, 5, ALL_STREAMS.into(), bytes[5].into()));
        }
        let count = u32_at(&bytes, 8) as usize;
        if count == 0 || count > MAX_SEGMENT_CHUNKS {
            let expected = MAX_SEGMENT_CHUNKS as u64;
            return Err(DecodeError::new(Field::Count, 8, expected, count as u64));
        }
        let expected = TABLE_HEADER_BYTES + count * TABLE_ENTRY_BYTES;
        if bytes.len() != expected {
            return Err(DecodeError::new(Field::Length, 8, expected as u64, got));
        }
        let here = match u16_at(&bytes, 6) {
            0 => count,
            here if usize::from(here) < count => here.into(),
            here => return Err(DecodeError::new(Field::Count, 6, count as u64 - 1, here.into())),
        };
        let table = Self { bytes, count, here };
        let mut end = 0;
        for index in 0..count {
            let range = table.range(index);
            if range.start != end || range.end <= end {
                let at = TABLE_HEADER_BYTES + count * HASH_BYTES + 4 * index;
                return Err(DecodeError::new(Field::Offset, at, end as u64 + 1, range.end as u64));
            }
            end = range.end;
            let (stored, len) = (range.len(), table.chunk_len(index));
            let is_packed = !table.is_remote(index) && len <= MAX_PACKED_CHUNK_BYTES;
            if len != stored && !(is_packed && len > stored) {
                let at = TABLE_HEADER_BYTES + count * (HASH_BYTES + 4) + 4 * index;
                return Err(DecodeError::new(Field::Length, at, stored as u64, len as u64));
            }
        }
        Ok(table)
    }

    /// Returns the number of chunks, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a segment is never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the table says that the segment has only values. This is not checked.
    pub fn only_values(&self) -> bool {
        self.bytes[5] == 1 << Stream::Value as u8
    }

    /// Returns whether the table says that the segment has only internal nodes, commits and pieces of
    /// sum trees. This is not checked.
    pub fn only_inner(&self) -> bool {
        self.bytes[5] == 1 << Stream::Inner as u8
    }

    /// Returns the position of the chunk that begins at `start`.
    pub fn chunk_at(&self, start: usize) -> Option<usize> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from.midpoint(to);
            if self.range(middle).start < start {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from < self.count && self.range(from).start == start).then_some(from)
    }

    /// Returns the table as it is stored.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the hash of the chunk at `index`, below [`Table::len`].
    #[must_use]
    pub fn hash(&self, index: usize) -> Hash {
        Hash::read(&self.bytes[TABLE_HEADER_BYTES + HASH_BYTES * index..])
    }

    pub(crate) fn has_hash(&self, index: usize, hash: &Hash) -> bool {
        let at = TABLE_HEADER_BYTES + HASH_BYTES * index;
        self.bytes[at..at + HASH_BYTES] == hash.0
    }

    /// Returns where the chunk at `index`, below [`Table::len`], is in the segment, packed or not.
    #[must_use]
    pub fn range(&self, index: usize) -> Range<usize> {
        let ends = TABLE_HEADER_BYTES + HASH_BYTES * self.count;
        let start = if index == 0 { 0 } else { u32_at(&self.bytes, ends + 4 * (index - 1)) };
        start as usize..u32_at(&self.bytes, ends + 4 * index) as usize
    }

    /// Returns the length of the chunk at `index`, below [`Table::len`]. If it takes less in the segment, it is packed
    /// there.
    #[must_use]
    pub fn chunk_len(&self, index: usize) -> usize {
        let lens = TABLE_HEADER_BYTES + (HASH_BYTES + 4) * self.count;
        u32_at(&self.bytes, lens + 4 * index) as usize
    }

    /// Returns whether the chunk at `index`, below [`Table::len`], is packed.
    #[must_use]
    #[inline]
    pub fn is_packed(&self, index: usize) -> bool {
        self.chunk_len(index) > self.range(index).len()
    }

    /// Unpacks the chunk at `index`, below [`Table::len`], from its stored bytes; empty if these are not its packed
    /// form.
    pub fn unpack(&self, index: usize, stored: &[u8]) -> Vec<u8> {
        unpack(stored, self.chunk_len(index)).unwrap_or_default()
    }

    /// Returns the chunk at `index`, below [`Table::len`], unpacked from the bytes of the segment. Empty if these
    /// were cut off before its end, or do not have its packed form there.
    #[must_use]
    pub fn chunk<'s>(&self, segment: &'s [u8], index: usize) -> Cow<'s, [u8]> {
        let stored = segment.get(self.range(index)).unwrap_or_default();
        if self.is_packed(index) {
            Cow::Owned(self.unpack(index, stored))
        } else {
            Cow::Borrowed(stored)
        }
    }

    /// Returns the bytes of the segment, without chunks that are at a remote.
    #[must_use]
    pub fn segment_len(&self) -> usize {
        self.range(self.here - 1).end
    }

    /// Returns whether the chunk at `index` is not in the segment, but at a remote.
    #[must_use]
    #[inline]
    pub const fn is_remote(&self, index: usize) -> bool {
        index >= self.here
    }

    /// Returns whether any chunk is at a remote.
    #[must_use]
    pub const fn has_remote(&self) -> bool {
        self.here < self.count
    }
}
