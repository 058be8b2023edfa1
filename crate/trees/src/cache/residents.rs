//! Which segments are in memory: those last used, as many as the budget has room for.

use super::catalogue::{Catalogue, SegmentId};
use core::cell::Cell;

/// So many segments stay in memory whatever the budget: a descent needs one for each level
/// of the tree at the same time.
const MIN_RESIDENT: usize = crate::limits::MAX_LEVEL as usize + 8;

/// Which segments are in memory: those last used, as many as the budget has room for.
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

    /// A segment of so many bytes comes into memory.
    pub const fn enter(&mut self, bytes: usize) {
        self.held += bytes;
        self.count += 1;
    }

    /// A segment of so many bytes is gone.
    pub const fn leave(&mut self, bytes: usize) {
        self.held -= bytes;
        self.count -= 1;
    }

    /// The time: later than whenever this was called before.
    pub fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    /// Lets go of stored segments until the budget is kept, but not of `keep`.
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
