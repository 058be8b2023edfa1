//! Rows as they are read: streamed into a new tree, or gathered to be merged.

use super::Ingest;
use super::state::State;
use crate::batch::{Batch, Edit};
use crate::cache::Cache;
use crate::error::Error;
use crate::key::Key;
use crate::rows::Next;
use crate::segment::Packer;
use crate::step::{Budget, Step};
use crate::tree::{Builder, Merge, Tree};
use alloc::boxed::Box;

/// Bytes that are copied at the cost of one that is read.
const COPIED_BYTES: usize = 8;

impl Ingest {
    /// Streams rows into the build; `None` when that has ended.
    pub(super) fn step_stream(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Option<Step<()>>, Error> {
        if self.indexes.is_full() {
            let step = self.indexes.spill(self.shape, cache, budget);
            self.collect();
            return step.map(Some);
        }
        if self.drop.is_none() {
            let done = self.take_rows(budget)?;
            self.collect();
            if !done {
                return Ok(Some(Step::Yield));
            }
            if !self.finishing {
                return Ok(Some(Step::Done(())));
            }
        }
        self.end_stream();
        Ok(None)
    }

    /// Gathers rows; `None` when they are to be merged, or there are no more.
    pub(super) fn step_gather(&mut self, budget: &mut Budget) -> Result<Option<Step<()>>, Error> {
        let State::Gather(batch) = &mut self.state else { return Ok(None) };
        if batch.held_bytes() > self.spill_bytes {
            self.start_merge();
            return Ok(None);
        }
        if !self.take_rows(budget)? {
            return Ok(Some(Step::Yield));
        }
        // A clear makes it a stream again.
        let State::Gather(batch) = &mut self.state else { return Ok(None) };
        budget.spend(batch.close_run());
        let is_empty = batch.is_empty();
        if is_empty && let Some(range) = self.drop.take() {
            let merge = Box::new(Merge::dropping(self.tree, range, self.shape));
            self.state = State::Merge(Batch::new(), merge);
            return Ok(Some(Step::Yield));
        }
        if self.drop.is_none() {
            if !self.finishing {
                return Ok(Some(Step::Done(())));
            }
            if is_empty {
                self.end(self.tree, Packer::new());
                return Ok(None);
            }
        }
        self.start_merge();
        Ok(None)
    }

    /// Reads rows until there are no more, the budget ends, or the first key comes that makes
    /// the stream a batch. Whether there are no more.
    fn take_rows(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        let taken = self.take_some(budget);
        budget.spend(self.reader.take_cost());
        taken
    }

    fn take_some(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        loop {
            budget.spend(self.reader.take_cost());
            if budget.is_spent() || self.indexes.is_full() {
                return Ok(false);
            }
            self.key.clear();
            let edit = match self.reader.peek(self.rows, &mut self.key)? {
                Next::More => return Ok(true),
                Next::Row(edit) => edit,
                Next::Clear => {
                    self.rows += 1;
                    budget.spend(64);
                    self.reader.advance();
                    self.clear();
                    continue;
                }
            };
            let ascends = || self.last_key.as_ref().is_none_or(|last| *last < self.key);
            match (&mut self.state, edit) {
                // What deletes nothing is no reason to end the stream.
                (State::Stream(_), Edit::Delete) if ascends() => {
                    budget.spend(self.touched.add(&self.key));
                }
                (State::Stream(builder), Edit::Put(value)) if ascends() => {
                    if !builder.push_some(Key::trusted(&self.key), value, budget) {
                        return Ok(false);
                    }
                    if !self.indexes.is_empty() {
                        budget.spend(self.indexes.add(&self.key, value.kind(), value.bytes()));
                    }
                    core::mem::swap(self.last_key.get_or_insert_default(), &mut self.key);
                }
                (State::Gather(batch), edit) => {
                    // If the tree was empty, the new one says which keys were put.
                    if !self.base.is_empty() || edit == Edit::Delete {
                        budget.spend(self.touched.add(&self.key));
                    }
                    if let Edit::Put(value) = edit {
                        budget.spend(value.bytes().len() / COPIED_BYTES);
                    }
                    batch.push(Key::trusted(&self.key), edit);
                }
                _ => {
                    // The row stays next, for the batch.
                    self.end_stream();
                    return Ok(false);
                }
            }
            self.rows += 1;
            budget.spend(64);
            self.reader.advance();
        }
    }

    fn end_stream(&mut self) {
        if let State::Stream(builder) = &mut self.state {
            let tree = builder.finish().tree;
            let packer = core::mem::take(builder.packer());
            self.indexes.added(tree);
            self.end(tree, packer);
        }
    }

    /// Begins anew with an empty tree: what was made of the rows so far is dropped.
    fn clear(&mut self) {
        self.touched.add_all();
        self.indexes.clear();
        self.tree = Tree::EMPTY;
        self.last_key = None;
        self.state = State::Stream(Box::new(Builder::new(self.shape)));
    }
}
