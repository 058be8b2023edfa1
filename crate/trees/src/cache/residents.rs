//! Which segments stay in memory: the last used, as many as fit the budget.

use super::catalogue::{Catalogue, SegmentId};
use core::cell::Cell;

/// The segments that stay in memory even if they exceed the budget: a descent needs one for each level
/// of the tree at the same time.
const MIN_RESIDENT: usize = crate::limits::MAX_LEVEL as usize + 8;

/// Which segments stay in memory: the last used, as many as fit the budget.
pub struct Residents {
    budget: usize,
    held: usize,
    count: usize,
    clock: Cell<u64>,
}

impl Residents {
    pub const fn new(budget: usize) -> Self {
        Self { budget, held: 0, count: 0, clock: Cell::new(0) }
    }

    pub const fn budget(&self) -> usize {
        self.budget
    }

    /// Bytes of segments in memory.
    pub const fn held(&self) -> usize {
        self.held
    }

    /// Counts a segment of `bytes` bytes that enters memory.
    pub const fn enter(&mut self, bytes: usize) {
        self.held += bytes;
        self.count += 1;
    }

    /// Counts a segment of `bytes` bytes that leaves memory.
    pub const fn leave(&mut self, bytes: usize) {
        self.held -= bytes;
        self.count -= 1;
    }

    /// A logical time that grows with each call.
    pub fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    /// Frees the bytes of stored segments other than `keep` until the budget is met.
    pub fn evict(&mut self, catalogue: &mut Catalogue, keep: Option<SegmentId>) {
        while self.held > self.budget && self.count > MIN_RESIDENT {
            let oldest = catalogue
                .segments_mut()
                .filter(|segment| segment.bytes.is_some() && !segment.fresh)
                .filter(|segment| Some(segment.id) != keep)
                .min_by_key(|segment| segment.used.get());
            let Some(segment) = oldest else { break };
            let bytes = segment.bytes.take().map_or(0, |bytes| bytes.len());
            segment.marks.leave();
            self.leave(bytes);
        }
    }
}
