//! Writes the edits that lead from one tree of rows to another.

use super::Encoder;
use crate::batch::{Batch, Edit};
use crate::cache::Cache;
use crate::error::Error;
use crate::limits::MAX_DELTA_BYTES;
use crate::step::{Budget, Step};
use crate::tree::{Rebase, Touched, Tree};
use alloc::vec::Vec;

/// How a delta has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is whole.
    Whole,
    /// It would be longer than it may be: make a checkpoint.
    TooLong,
}

/// Writes the edits that lead from one tree of rows to another, at the cost of the nodes that the trees do
/// not share. After each step take the bytes of [`MakeDelta::encoder`].
///
/// It gathers what a rebase would bring in of a change, so that walk and values are read by the same code.
#[derive(Debug)]
pub struct MakeDelta {
    walk: Rebase,
    /// What the walk has touched of its own: nothing.
    touched: Touched,
    encoder: Encoder,
    max_bytes: usize,
}

impl MakeDelta {
    /// The edits that lead from `old` to `new`, in `max_bytes` at most, or in [`MAX_DELTA_BYTES`] if that is
    /// less.
    #[must_use]
    pub fn new(old: Tree, new: Tree, max_bytes: usize) -> Self {
        Self {
            walk: Rebase::new(old, new, None, Vec::new()),
            touched: Touched::default(),
            encoder: Encoder::new(),
            max_bytes: max_bytes.min(MAX_DELTA_BYTES),
        }
    }

    /// The bytes that were written since they were taken, and the number of edits.
    pub const fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// Continues the delta.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<Made>, Error> {
        let mut edits = Batch::new();
        let step = self.walk.step(cache, &self.touched, &mut edits, budget)?;
        for at in 0..edits.len() {
            self.add(&edits, at);
            if self.encoder.len() > self.max_bytes {
                return Ok(Step::Done(Made::TooLong));
            }
        }
        Ok(match step {
            Step::Done(()) => {
                self.encoder.end();
                let fits = self.encoder.len() <= self.max_bytes;
                Step::Done(if fits { Made::Whole } else { Made::TooLong })
            }
            Step::Need(wanted) => Step::Need(wanted),
            Step::Yield => Step::Yield,
        })
    }

    fn add(&mut self, edits: &Batch, at: usize) {
        let key = edits.key(at);
        match edits.edit(at) {
            Edit::Put(value) => {
                self.encoder.put(key, value.kind(), value.bytes().len());
                self.encoder.out().extend_from_slice(value.bytes());
            }
            // A walk finds no updates.
            Edit::Delete | Edit::Update(_) => self.encoder.delete(key),
        }
    }
}
