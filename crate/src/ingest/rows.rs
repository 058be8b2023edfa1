//! Takes rows as they are read: streams them into a new tree, or gathers them for a merge.

use super::Ingest;
use super::state::State;
use crate::batch::{Batch, Edit};
use crate::cache::Cache;
use crate::error::Error;
use crate::key::Key;
use crate::rows::Next;
use crate::segment::Packer;
use crate::step::{Budget, COPIED_BYTES, Step};
use crate::tree::{Builder, Merge, Tree};
use alloc::boxed::Box;

impl Ingest {
    /// Streams rows into the build; returns `None` when the stream has ended.
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

    /// Gathers rows; returns `None` when another state follows.
    pub(super) fn step_gather(&mut self, budget: &mut Budget) -> Result<Option<Step<()>>, Error> {
        let State::Gather(batch) = &mut self.state else { return Ok(None) };
        if batch.held_bytes() > self.spill_bytes {
            self.start_merge();
            return Ok(None);
        }
        if !self.take_rows(budget)? {
            return Ok(Some(Step::Yield));
        }
        // A clear turns the state into a stream again.
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

    /// Reads rows until the block or the budget ends, or a key does not ascend and so ends the stream.
    /// Returns whether the block has ended.
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
                // The key cannot exist: the delete has no effect, and the stream continues.
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
                    // If the tree was empty, the new tree has all keys that were put.
                    if !self.base.is_empty() || edit == Edit::Delete {
                        budget.spend(self.touched.add(&self.key));
                    }
                    if let Edit::Put(value) = edit {
                        budget.spend(value.bytes().len() / COPIED_BYTES);
                    }
                    batch.push(Key::trusted(&self.key), edit);
                }
                _ => {
                    // The reader does not advance: the row goes into the batch.
                    self.end_stream();
                    return Ok(false);
                }
            }
            self.rows += 1;
            budget.spend(64);
            self.reader.advance();
        }
    }

    pub(super) fn end_stream(&mut self) {
        if let State::Stream(builder) = &mut self.state {
            let tree = builder.finish().tree;
            let packer = core::mem::take(builder.packer());
            self.indexes.added(tree);
            self.end(tree, packer);
        }
    }

    /// Restarts with an empty tree: drops the chunks made of the rows so far.
    fn clear(&mut self) {
        self.touched.add_all();
        self.indexes.clear();
        self.tree = Tree::EMPTY;
        self.last_key = None;
        self.state = State::Stream(Box::new(Builder::new(self.shape)));
    }
}
