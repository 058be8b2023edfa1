//! Writes the edits that lead from one tree of rows to another.

use super::Encoder;
use crate::batch::{Batch, Edit};
use crate::cache::Cache;
use crate::error::Error;
use crate::limits::MAX_DELTA_BYTES;
use crate::step::{Budget, Step};
use crate::tree::{Rebase, Touched, Tree};
use alloc::vec::Vec;

/// The end of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is whole, and was the last one.
    Whole,
    /// It would be too long: make a checkpoint.
    TooLong,
}

/// Writes the edits that lead from one tree of rows to another, at the cost of the nodes that the trees do
/// not share. After each step take the bytes of [`MakeDelta::encoder`].
///
/// It gathers edits as a rebase does, so that the same code walks the trees and reads values.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::delta::{Made, MakeDelta};
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let mut host = Host::of(Shape::STORED, &(0..100).map(issue).collect());
/// let before = host.tree();
/// host.put(&[issue(100), issue(101)]);
///
/// let mut make = MakeDelta::new(before, host.tree(), usize::MAX, usize::MAX);
/// let mut delta = Vec::new();
/// let made = host.run(|cache, budget| {
///     let step = make.step(cache, budget);
///     delta.extend_from_slice(make.encoder().out());
///     make.encoder().take();
///     step
/// })?;
/// assert_eq!((made, make.encoder().edits()), (Made::Whole, 2));
/// assert!(delta.starts_with(b"HDGD"));
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct MakeDelta {
    walk: Rebase,
    /// The keys that the walk leaves out: always empty.
    touched: Touched,
    encoder: Encoder,
    /// Edits of a step that belong to the next delta, and how many of them were added.
    edits: Batch,
    added: usize,
    ended: bool,
    cut_bytes: usize,
    max_bytes: usize,
}

impl MakeDelta {
    /// Begins the edits that lead from `old` to `new`, in `max_bytes` at most, or in [`MAX_DELTA_BYTES`] if that
    /// is less. A delta ends with the edit by which it has `cut_bytes`, and another one follows: each leads on
    /// from the one before, and their keys ascend.
    #[must_use]
    pub fn new(old: Tree, new: Tree, cut_bytes: usize, max_bytes: usize) -> Self {
        Self {
            walk: Rebase::new(old, new, None, Vec::new()),
            touched: Touched::default(),
            encoder: Encoder::new(),
            edits: Batch::new(),
            added: 0,
            ended: false,
            cut_bytes,
            max_bytes: max_bytes.min(MAX_DELTA_BYTES),
        }
    }

    /// Returns the encoder, with the bytes since they were last taken and the number of edits.
    pub const fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// Returns whether the last step has ended a delta, and others follow.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Continues the delta, or begins the next one. Pauses at the end of each.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<Made>, Error> {
        if core::mem::take(&mut self.ended) {
            self.encoder = Encoder::new();
        }
        if let Some(end) = self.add_all() {
            return Ok(end);
        }
        (self.edits, self.added) = (Batch::new(), 0);
        let step = self.walk.step(cache, &self.touched, &mut self.edits, budget)?;
        if let Some(end) = self.add_all() {
            // The walk repeats its answer: it continues from its place.
            return Ok(end);
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

    /// Adds the edits that are left. Returns `Some` when a delta is long enough, or too long.
    fn add_all(&mut self) -> Option<Step<Made>> {
        let edits = core::mem::take(&mut self.edits);
        let mut end = None;
        while self.added < edits.len() && end.is_none() {
            self.add(&edits, self.added);
            self.added += 1;
            if self.encoder.len() > self.max_bytes {
                end = Some(Step::Done(Made::TooLong));
            } else if self.encoder.len() >= self.cut_bytes {
                self.encoder.end();
                self.ended = true;
                end = Some(Step::Yield);
            }
        }
        self.edits = edits;
        end
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
