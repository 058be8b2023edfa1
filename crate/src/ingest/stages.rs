//! Sorts, resolves and merges gathered edits into the tree; and a rebase, which gathers more of them.

use super::state::{After, State};
use super::{Ingest, SPILL_BYTES};
use crate::batch::{Batch, Edit};
use crate::cache::Cache;
use crate::error::Error;
use crate::limits::PIECE_BYTES;
use crate::segment::Packer;
use crate::step::{Budget, Step};
use crate::tree::{Merge, PointEdit, ResolveUpdates, Tree};
use alloc::boxed::Box;

impl Ingest {
    #[inline(never)]
    pub(super) fn work(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        loop {
            match &mut self.state {
                State::Stream(_) => {
                    if let Some(step) = self.step_stream(cache, budget)? {
                        return Ok(step);
                    }
                }
                State::Sums(_) => return Ok(Step::Done(())),
                State::Index(_) => return self.step_index(cache, budget),
                State::Gather(_) if self.commit.is_some() => return Ok(Step::Done(())),
                State::Gather(_) => {
                    if let Some(step) = self.step_gather(budget)? {
                        return Ok(step);
                    }
                }
                State::Sort(batch) => {
                    if !batch.sort(budget) {
                        return Ok(Step::Yield);
                    }
                    let batch = core::mem::take(batch);
                    if batch.has_updates() {
                        let mut updates = Box::new(ResolveUpdates::new(batch));
                        updates.read_from(self.tree);
                        self.state = State::Resolve(updates);
                    } else {
                        self.merge(batch);
                    }
                }
                State::Resolve(updates) => match updates.step(cache, self.spill_bytes, budget)? {
                    Step::Done(()) => self.merge_resolved(),
                    waiting => return Ok(waiting),
                },
                State::Rebase(..) => return self.step_rebase(cache, budget),
                State::PointEdit(batch, edit) => match edit.step(cache, batch)? {
                    Step::Done(Some(tree)) => {
                        let packer = core::mem::take(edit.packer());
                        self.fast += 1;
                        if self.end(tree, packer) {
                            return Ok(Step::Yield);
                        }
                    }
                    Step::Done(None) => {
                        let batch = core::mem::take(batch);
                        let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
                        self.state = State::Merge(batch, merge);
                    }
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                },
                State::Merge(batch, merge) => match merge.step(cache, batch, budget)? {
                    Step::Done(tree) => {
                        let packer = core::mem::take(merge.packer());
                        if self.end(tree, packer) {
                            return Ok(Step::Yield);
                        }
                    }
                    Step::Need(wanted) => {
                        self.collect();
                        return Ok(Step::Need(wanted));
                    }
                    Step::Yield => {
                        self.collect();
                        return Ok(Step::Yield);
                    }
                },
            }
        }
    }

    /// Gathers the changes of another writer, and merges them at the end or when they take too much memory.
    fn step_rebase(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let State::Rebase(batch, rebase) = &mut self.state else { return Ok(Step::Yield) };
        let step = rebase.step(cache, &self.touched, batch, budget)?;
        let done = matches!(step, Step::Done(()));
        if !done && batch.held_bytes() <= SPILL_BYTES {
            return Ok(step);
        }
        budget.spend(batch.close_run());
        let batch = core::mem::take(batch);
        if done && batch.is_empty() {
            self.end(self.tree, Packer::new());
            return Ok(Step::Yield);
        }
        if let State::Rebase(_, rebase) = core::mem::replace(&mut self.state, State::Sort(batch))
            && !done
        {
            self.after = After::Rebase(rebase);
        }
        Ok(Step::Yield)
    }

    /// Starts to sort and merge the gathered edits.
    pub(super) fn start_merge(&mut self) {
        if let State::Gather(batch) = &mut self.state {
            batch.close_run();
            self.state = State::Sort(core::mem::take(batch));
        }
    }

    /// Starts to merge the updates that are resolved; the others are resolved after that.
    fn merge_resolved(&mut self) {
        let state = core::mem::replace(&mut self.state, State::Gather(Batch::new()));
        if let State::Resolve(mut updates) = state {
            let batch = core::mem::take(&mut updates.out);
            if !updates.is_over() {
                self.after = After::Resolve(updates);
            }
            self.merge(batch);
        }
    }

    /// Starts to merge a sorted batch without updates.
    fn merge(&mut self, batch: Batch) {
        // A merge writes a long value in slices; a point edit does not.
        let is_small =
            |edit| !matches!(edit, Edit::Put(value) if value.bytes().len() > PIECE_BYTES);
        self.state = if batch.len() == 1 && is_small(batch.edit(0)) {
            State::PointEdit(batch, Box::new(PointEdit::new(self.tree, self.shape)))
        } else {
            let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
            State::Merge(batch, merge)
        };
    }

    /// Ends a build or a merge. Returns whether its chunks must be in the cache for the next step.
    pub(super) fn end(&mut self, tree: Tree, mut packer: Packer) -> bool {
        self.tree = tree;
        let after = core::mem::take(&mut self.after);
        let is_last = matches!(after, After::Rows) && self.finishing && self.reader.is_spent();
        let read = !is_last || self.has_sums || self.indexes.must_read(tree);
        if read {
            packer.seal();
        }
        self.sealed.extend(packer.take_sealed());
        if !is_last {
            self.count(&packer);
        }
        self.state = match after {
            After::Rows if is_last => State::Index(packer),
            After::Rows => State::Gather(Batch::new()),
            After::Resolve(mut updates) => {
                updates.read_from(tree);
                State::Resolve(updates)
            }
            After::Rebase(rebase) => State::Rebase(Batch::new(), rebase),
        };
        read
    }
}
