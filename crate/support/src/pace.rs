//! The pace of a host: how badly it treats an operation.

use hedgerow::cache::{SegmentId, Want};
use hedgerow::step::Budget;

/// The most evictions during one operation: enough that all segments leave, but few enough that it ends.
const EVICTIONS: usize = 200;

/// The choices of a host that behaves as badly as it may: bytes, which are used repeatedly.
#[derive(Clone, Debug)]
pub struct Pace {
    choices: Vec<u8>,
    at: usize,
    evictions: usize,
}

impl Pace {
    /// Makes a pace with these choices.
    pub fn new(choices: &[u8]) -> Self {
        Self { choices: choices.to_vec(), at: 0, evictions: 0 }
    }

    fn choice(&mut self) -> usize {
        self.at += 1;
        if self.choices.is_empty() { 0 } else { self.choices[self.at % self.choices.len()].into() }
    }

    /// Begins another operation.
    pub const fn begin(&mut self) {
        self.evictions = EVICTIONS;
    }

    /// Chooses the budget of the next step, and a stored segment that leaves memory before it, if any.
    pub fn budget(&mut self) -> (Budget, Option<usize>) {
        let choice = self.choice();
        let mut leaves = None;
        if choice >= 0xe0 && self.evictions > 0 {
            self.evictions -= 1;
            leaves = Some(self.choice());
        }
        (Budget::of([1, 1, 7, 64, 300, 4096, 1 << 16, usize::MAX][choice % 8]), leaves)
    }

    /// Chooses whether a segment is stored as it was made.
    pub fn is_whole(&mut self) -> bool {
        self.choice() & 8 != 0
    }

    /// Chooses what to load for these wants, in order; `any` returns any stored segment.
    pub fn answer(
        &mut self,
        wanted: &[Want],
        any: impl Fn(usize) -> Option<SegmentId>,
    ) -> Vec<Want> {
        let (how, which) = (self.choice(), self.choice());
        let mut order = wanted.to_vec();
        match how % 4 {
            0 => {}
            1 => order.reverse(),
            2 => order = vec![wanted[which % wanted.len()]],
            _ => order.splice(..0, any(which).map(Want::whole_of)).for_each(drop),
        }
        order
    }
}
