//! The chunks of a segment that are in memory without the rest of it.

use alloc::vec::Vec;
use core::cell::Cell;

/// A chunk in memory.
pub struct Part {
    /// Its position in the segment.
    pub chunk: u32,
    /// When it was last used.
    pub used: Cell<u64>,
    /// Its bytes as they were read, not checked.
    pub bytes: Vec<u8>,
}

/// The chunks of a segment that are in memory without the rest of it, by position.
#[derive(Default)]
pub struct Parts(Vec<Part>);

impl Parts {
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    fn find(&self, chunk: u32) -> Result<usize, usize> {
        self.0.binary_search_by(|part| part.chunk.cmp(&chunk))
    }

    /// Returns the bytes of a chunk, and when they were last used.
    #[inline]
    pub fn get(&self, chunk: u32) -> Option<(&[u8], &Cell<u64>)> {
        let part = &self.0[self.find(chunk).ok()?];
        Some((&part.bytes, &part.used))
    }

    /// Adds a chunk; returns `false` if it is here already.
    pub fn insert(&mut self, part: Part) -> bool {
        let Err(at) = self.find(part.chunk) else { return false };
        self.0.insert(at, part);
        true
    }

    /// Removes the chunks for which `keep` is false, and calls `gone` with each.
    pub fn retain(&mut self, mut keep: impl FnMut(&Part) -> bool, mut gone: impl FnMut(&Part)) {
        self.0.retain(|part| {
            let stays = keep(part);
            if !stays {
                gone(part);
            }
            stays
        });
        if self.0.is_empty() {
            self.0 = Vec::new();
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }

    /// Lists the positions of the chunks.
    pub fn chunks(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|part| part.chunk as usize)
    }

    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes and the number of the chunks.
    pub fn size(&self) -> (usize, usize) {
        (self.0.iter().map(|part| part.bytes.len()).sum(), self.0.len())
    }
}
