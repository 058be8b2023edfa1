//! A known segment: its table, its bytes in memory, and the neighbours of its chunks in the chains of the
//! catalogue.

use super::marks::Marks;
use super::parts::Parts;
use super::unpacked::{Unpacked, UnpackedBytes};
use crate::segment::Table;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

/// The number under which a segment is stored: below 2^53.
pub type SegmentId = u64;

/// A chunk in a segment, both by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub segment: u32,
    pub chunk: u32,
}

/// No slot: the end of a chain.
pub const NONE: Slot = Slot { segment: u32::MAX, chunk: u32::MAX };

/// The neighbours of a copy in its chain.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub before: Slot,
    pub after: Slot,
}

/// A known segment.
pub struct Segment {
    pub id: SegmentId,
    pub table: Table,
    /// Its bytes, while all of it is in memory.
    pub bytes: Option<Vec<u8>>,
    /// Its packed chunks that were read, while all of it is in memory.
    pub unpacked: Unpacked,
    /// Chunks of it that are in memory, while the whole is not.
    pub parts: Parts,
    /// Which of its chunks are checked or damaged.
    pub marks: Marks,
    /// When the whole was last used.
    pub used: Cell<u64>,
    /// Not stored yet.
    pub fresh: bool,
    /// A link for each chunk; empty until one of them has another copy.
    links: Vec<Link>,
}

impl Segment {
    pub const fn new(id: SegmentId, table: Table) -> Self {
        Self {
            id,
            table,
            bytes: None,
            unpacked: Unpacked::none(),
            parts: Parts::none(),
            marks: Marks::none(),
            used: Cell::new(0),
            fresh: false,
            links: Vec::new(),
        }
    }

    /// Returns the bytes of a chunk in memory, and when they were last used; `None` if it is not in memory. If
    /// the segment was cut off before its end, the bytes are empty. Unpacks the chunk, if it is packed, and adds
    /// the memory for it to `unpacked`.
    #[inline]
    pub fn held(&self, chunk: usize, unpacked: &UnpackedBytes) -> Option<(&[u8], &Cell<u64>)> {
        match &self.bytes {
            Some(bytes) if !self.table.is_remote(chunk) => {
                let stored = bytes.get(self.table.range(chunk)).unwrap_or_default();
                let chunk = if self.table.is_packed(chunk) {
                    self.unpacked.get(&self.table, chunk, stored, unpacked)
                } else {
                    stored
                };
                Some((chunk, &self.used))
            }
            _ => self.parts.get(chunk as u32),
        }
    }

    /// Returns when a chunk in memory was last used; `None` if it is not in memory.
    pub fn is_held(&self, chunk: usize) -> Option<&Cell<u64>> {
        match &self.bytes {
            Some(_) if !self.table.is_remote(chunk) => Some(&self.used),
            _ => self.parts.get(chunk as u32).map(|(_, used)| used),
        }
    }

    /// Returns the bytes of the whole, while it is in memory.
    pub fn whole_len(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::len)
    }

    /// Returns its bytes in memory, and how many units of it may leave memory separately.
    pub fn size(&self) -> (usize, usize) {
        let (bytes, count) = self.parts.size();
        (bytes + self.whole_len(), count + usize::from(self.bytes.is_some()))
    }

    pub fn link(&self, chunk: u32) -> Link {
        let none = Link { before: NONE, after: NONE };
        self.links.get(chunk as usize).copied().unwrap_or(none)
    }

    pub fn link_mut(&mut self, chunk: u32) -> &mut Link {
        if self.links.is_empty() {
            self.links = vec![Link { before: NONE, after: NONE }; self.table.len()];
        }
        &mut self.links[chunk as usize]
    }
}
