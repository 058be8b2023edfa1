//! What stays in memory: the units used last, as many as fit the budget. A unit is a segment, or one of
//! its chunks without the rest.

use super::catalogue::{Catalogue, Segment};
use crate::chunk::ChunkKind;
use crate::order::sorted;
use alloc::vec::Vec;
use core::cell::Cell;

/// The units that stay in memory even if they exceed the budget: a descent needs one for each level of the
/// tree at the same time.
const MIN_RESIDENT: usize = crate::limits::MAX_LEVEL as usize + 8;

/// Internal nodes count as used so many times as lately as they were: many reads share each of them.
const INNER_WEIGHT: u64 = 16;

/// One time in so many budgets what leaves memory is chosen: a choice looks at every unit.
const SPARE: usize = 16;

/// What stays in memory: the units used last, as many as fit the budget.
pub struct Residents {
    budget: usize,
    held: usize,
    count: usize,
    clock: Cell<u64>,
}

/// A unit that may leave memory.
struct Unit {
    /// The time since it was last used, weighted.
    age: u64,
    bytes: usize,
    segment: usize,
    /// `None` for a whole segment.
    chunk: Option<u32>,
}

impl Residents {
    pub const fn new(budget: usize) -> Self {
        Self { budget, held: 0, count: 0, clock: Cell::new(0) }
    }

    pub const fn budget(&self) -> usize {
        self.budget
    }

    /// Bytes in memory.
    pub const fn held(&self) -> usize {
        self.held
    }

    /// Counts a unit of `bytes` bytes that enters memory.
    pub const fn enter(&mut self, bytes: usize) {
        self.held += bytes;
        self.count += 1;
    }

    /// Counts `count` units of `bytes` bytes in all that leave memory.
    pub const fn leave(&mut self, (bytes, count): (usize, usize)) {
        self.held -= bytes;
        self.count -= count;
    }

    /// A logical time that grows with each call.
    pub fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    /// Frees stored units other than the [`MIN_RESIDENT`] that were used last until the budget is met.
    pub fn evict(&mut self, catalogue: &mut Catalogue) {
        if self.held <= self.budget || self.count <= MIN_RESIDENT {
            return;
        }
        let units = self.units(catalogue);
        let order = sorted(units.len(), &|a, b| units[b].age.cmp(&units[a].age));
        let aim = self.budget - self.budget / SPARE;
        let may_leave = units.len().saturating_sub(MIN_RESIDENT);
        let mut leaving: Vec<&Unit> = Vec::new();
        for at in order.into_iter().take(may_leave) {
            if self.held <= aim {
                break;
            }
            self.leave((units[at].bytes, 1));
            leaving.push(&units[at]);
        }
        let place = |at: usize| (leaving[at].segment, leaving[at].chunk);
        let order = sorted(leaving.len(), &|a, b| place(a).cmp(&place(b)));
        let mut next = order.into_iter().map(|at| leaving[at]).peekable();
        for (number, segment) in catalogue.segments_mut().enumerate() {
            let Segment { bytes, parts, marks, .. } = segment;
            if next.next_if(|unit| (unit.segment, unit.chunk) == (number, None)).is_some() {
                *bytes = None;
                marks.leave();
            }
            if next.peek().is_some_and(|unit| unit.segment == number) {
                parts.retain(
                    |part| {
                        let is_it =
                            |unit: &&Unit| (unit.segment, unit.chunk) == (number, Some(part.chunk));
                        next.next_if(is_it).is_none()
                    },
                    |part| marks.leave_one(part.chunk as usize),
                );
            }
        }
    }

    /// What may leave memory.
    fn units(&self, catalogue: &Catalogue) -> Vec<Unit> {
        let now = self.clock.get();
        let age = |used: &Cell<u64>, is_inner: bool| {
            (now - used.get()) / if is_inner { INNER_WEIGHT } else { 1 }
        };
        let mut units = Vec::with_capacity(self.count);
        for (number, segment) in catalogue.segments().enumerate() {
            if let (Some(bytes), false) = (&segment.bytes, segment.fresh) {
                let age = age(&segment.used, segment.table.only_inner());
                units.push(Unit { age, bytes: bytes.len(), segment: number, chunk: None });
            }
            units.extend(segment.parts.iter().map(|part| Unit {
                age: age(&part.used, is_inner(&part.bytes)),
                bytes: part.bytes.len(),
                segment: number,
                chunk: Some(part.chunk),
            }));
        }
        units
    }
}

/// Whether many reads share a chunk: a commit, or an internal node.
fn is_inner(bytes: &[u8]) -> bool {
    match ChunkKind::decode(bytes) {
        Ok(ChunkKind::Node(level)) => level > 0,
        kind => kind == Ok(ChunkKind::Commit),
    }
}
