//! The units that stay in memory: the last used ones, as many as fit the budget. A unit is a segment,
//! or one of its chunks without the rest.

use super::catalogue::Catalogue;
use super::known::Segment;
use super::unpacked::UnpackedBytes;
use crate::chunk::ChunkKind;
use crate::limits::{MAX_LEVEL, SEGMENT_BYTES};
use crate::order::sorted;
use alloc::vec::Vec;
use core::cell::Cell;

/// The units that stay in memory even if they exceed the budget: a descent needs one for each level of the
/// tree at the same time.
const MIN_RESIDENT: usize = MAX_LEVEL as usize + 8;

/// Some units age this many times more slowly than a leaf that was read: internal nodes, which many
/// reads share, and units that were loaded and are still to be read.
const WEIGHT: u64 = 16;

/// An eviction also frees one part in this many of the budget, since a choice looks at every unit.
const SPARE: usize = 16;

/// Chunks that are in memory both packed and unpacked may always take this many bytes, or one part in [`SPARE`]
/// of the budget if that is more.
const LEAST_UNPACKED: usize = 1 << 20;

/// Even the smallest cache asks for two segments at once.
const LEAST_ROOM: usize = 2 * SEGMENT_BYTES;

/// The units that stay in memory: the last used ones, as many as fit the budget.
pub struct Residents {
    budget: usize,
    held: usize,
    /// Bytes that may not leave.
    kept: usize,
    count: usize,
    clock: Cell<u64>,
    /// Bytes of chunks that are in memory packed and unpacked.
    unpacked: UnpackedBytes,
    /// The time when the current step began; before the first one, the end of time. Units used since then leave last.
    step_began: u64,
    /// The bytes that may leave before a choice of units is worth it.
    most: usize,
}

/// A unit that may leave memory.
struct Unit {
    /// The time since it was last used, weighted.
    age: u64,
    /// It was used in this step.
    is_needed: bool,
    bytes: usize,
}

impl Residents {
    pub const fn new(budget: usize) -> Self {
        Self {
            budget,
            held: 0,
            kept: 0,
            count: 0,
            clock: Cell::new(0),
            unpacked: UnpackedBytes::none(),
            step_began: u64::MAX,
            most: budget,
        }
    }

    /// Begins a step: the units that are used or loaded from here on leave last.
    pub const fn begin_step(&mut self) {
        self.step_began = self.clock.get() + 1;
        self.most = self.budget;
    }

    pub const fn budget(&self) -> usize {
        self.budget
    }

    pub const fn set_budget(&mut self, bytes: usize) {
        self.budget = bytes;
        self.most = bytes;
    }

    /// Returns the bytes in memory.
    pub const fn held(&self) -> usize {
        self.held + self.unpacked.held()
    }

    /// Returns the counts of the bytes of chunks that are in memory packed and unpacked.
    pub const fn unpacked(&self) -> &UnpackedBytes {
        &self.unpacked
    }

    /// Returns whether this many more bytes of a stored segment, and a few of its chunks unpacked, drive no unit out.
    pub const fn has_room(&self, bytes: usize) -> bool {
        self.held - self.kept + bytes + self.budget / SPARE <= self.budget
    }

    /// Drops unpacked chunks, first of the least recently used segments, if they take more than the stored segments
    /// leave of the budget, and more than they may always take.
    pub fn settle(&self, catalogue: &mut Catalogue) {
        let left = self.budget.saturating_sub(self.held - self.kept);
        self.unpack_at_most(left.max(self.budget / SPARE).max(LEAST_UNPACKED), catalogue);
    }

    /// Drops unpacked chunks, first of the least recently used segments, if they take more than `most` bytes.
    pub fn unpack_at_most(&self, most: usize, catalogue: &mut Catalogue) {
        if self.unpacked.held() > most {
            self.drop_unpacked(catalogue, most - most / SPARE);
        }
    }

    #[cold]
    fn drop_unpacked(&self, catalogue: &mut Catalogue, aim: usize) {
        let mut segments: Vec<_> =
            catalogue.segments_mut().filter(|segment| segment.unpacked.bytes() > 0).collect();
        let order =
            sorted(segments.len(), &|a, b| segments[a].used.get().cmp(&segments[b].used.get()));
        for at in order {
            if self.unpacked.held() <= aim {
                break;
            }
            segments[at].unpacked.clear(&self.unpacked);
        }
    }

    /// Counts a unit of `bytes` bytes that enters memory.
    pub const fn enter(&mut self, bytes: usize) {
        self.held += bytes;
        self.count += 1;
    }

    /// Counts bytes in memory that may not leave until [`Residents::release`].
    pub const fn keep(&mut self, bytes: usize) {
        self.kept += bytes;
    }

    /// Counts bytes that may leave again.
    pub const fn release(&mut self, bytes: usize) {
        self.kept -= bytes;
    }

    /// Returns how many bytes, and how many units, may be asked for at once without driving each other out.
    pub const fn room(&self) -> (usize, usize) {
        let half = self.budget / 2;
        if half < LEAST_ROOM { (LEAST_ROOM, MIN_RESIDENT / 2) } else { (half, usize::MAX) }
    }

    /// Counts `count` units of `bytes` bytes in all that leave memory.
    pub const fn leave(&mut self, (bytes, count): (usize, usize)) {
        self.held -= bytes;
        self.count -= count;
    }

    /// Returns a logical time that grows with each call.
    pub fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    /// Frees units that may leave, but not the last used [`MIN_RESIDENT`], until the units that may leave meet the
    /// budget. Units used since the step began may exceed it by [`Residents::room`].
    pub fn evict(&mut self, catalogue: &mut Catalogue) {
        self.settle(catalogue);
        let unpacked = self.unpacked.held().min(self.budget / SPARE);
        if self.held - self.kept + unpacked <= self.most || self.count <= MIN_RESIDENT {
            return;
        }
        let units = self.units(catalogue);
        let rank = |at: usize| (!units[at].is_needed, units[at].age);
        let order = sorted(units.len(), &|a, b| rank(b).cmp(&rank(a)));
        let aim = self.budget - unpacked - self.budget / SPARE;
        let most = self.budget + self.room().0;
        let may_leave = units.len().saturating_sub(MIN_RESIDENT);
        let mut leaves = alloc::vec![false; units.len()];
        for at in order.into_iter().take(may_leave) {
            let is_needed = units[at].is_needed;
            if self.held - self.kept <= if is_needed { most } else { aim } {
                if is_needed {
                    self.most = most;
                }
                break;
            }
            self.leave((units[at].bytes, 1));
            leaves[at] = true;
        }
        // In the order of `units`.
        let mut leaves = leaves.into_iter();
        let mut is_leaving = || leaves.next() == Some(true);
        for Segment { bytes, unpacked, fresh, parts, marks, .. } in catalogue.segments_mut() {
            if bytes.is_some() && !*fresh && is_leaving() {
                *bytes = None;
                unpacked.clear(&self.unpacked);
                marks.leave(parts.chunks());
            }
            parts.retain(|_| !is_leaving(), |part| marks.leave_one(part.chunk as usize));
        }
    }

    /// Lists the units that may leave memory: of each segment the whole, or else its parts.
    fn units(&self, catalogue: &Catalogue) -> Vec<Unit> {
        let now = self.clock.get();
        let unit = |used: &Cell<u64>, is_worth_more: bool, bytes: usize| Unit {
            age: (now - used.get()) / if is_worth_more { WEIGHT } else { 1 },
            is_needed: used.get() >= self.step_began,
            bytes,
        };
        let mut units = Vec::with_capacity(self.count);
        for segment in catalogue.segments() {
            if let (Some(bytes), false) = (&segment.bytes, segment.fresh) {
                let is_worth_more = segment.marks.is_unread() || segment.table.only_inner();
                units.push(unit(&segment.used, is_worth_more, bytes.len()));
            }
            units.extend(segment.parts.iter().map(|part| {
                let is_unread = !segment.marks.is_checked(part.chunk as usize);
                unit(&part.used, is_unread || is_inner(&part.bytes), part.bytes.len())
            }));
        }
        units
    }
}

/// Returns whether many reads share a chunk: a commit, or an internal node.
fn is_inner(bytes: &[u8]) -> bool {
    match ChunkKind::decode(bytes) {
        Ok(ChunkKind::Node(level)) => level > 0,
        kind => kind == Ok(ChunkKind::Commit),
    }
}
