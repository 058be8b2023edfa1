//! Gathered edits on their way into the tree: sorted, resolved, merged; and a rebase, which gathers more of them.

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
                State::Sort(batch, after) => {
                    if !batch.sort(budget) {
                        return Ok(Step::Yield);
                    }
                    let (batch, after) = (core::mem::take(batch), after.take());
                    if batch.has_updates() {
                        let fold = ResolveUpdates::new(batch).on(self.tree);
                        self.state = State::Resolve(Box::new(fold));
                    } else {
                        self.merge(batch, after);
                    }
                }
                State::Resolve(fold) => match fold.step(cache, self.spill_bytes, budget)? {
                    Step::Done(()) => self.merge_folded(),
                    waiting => return Ok(waiting),
                },
                State::Rebase(..) => return self.step_rebase(cache, budget),
                State::PointEdit(batch, replace, after) => match replace.step(cache, batch)? {
                    Step::Done(Some(tree)) => {
                        let (packer, after) = (core::mem::take(replace.packer()), after.take());
                        self.fast += 1;
                        if self.end(tree, packer, after) {
                            return Ok(Step::Yield);
                        }
                    }
                    Step::Done(None) => {
                        let (batch, after) = (core::mem::take(batch), after.take());
                        let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
                        self.state = State::Merge(batch, merge, after);
                    }
                    Step::Need(ids) => return Ok(Step::Need(ids)),
                    Step::Yield => return Ok(Step::Yield),
                },
                State::Merge(batch, merge, after) => match merge.step(cache, batch, budget)? {
                    Step::Done(tree) => {
                        let (packer, after) = (core::mem::take(merge.packer()), after.take());
                        if self.end(tree, packer, after) {
                            return Ok(Step::Yield);
                        }
                    }
                    Step::Need(ids) => {
                        self.collect();
                        return Ok(Step::Need(ids));
                    }
                    Step::Yield => {
                        self.collect();
                        return Ok(Step::Yield);
                    }
                },
            }
        }
    }

    /// Gathers what another writer has changed, and has it merged when it takes too much memory.
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
            self.end(self.tree, Packer::new(), After::Rows);
            return Ok(Step::Yield);
        }
        let state = core::mem::replace(&mut self.state, State::Sort(batch, After::Rows));
        if let (State::Rebase(_, rebase), State::Sort(_, after), false) =
            (state, &mut self.state, done)
        {
            *after = After::Rebase(rebase);
        }
        Ok(Step::Yield)
    }

    /// Has what was gathered sorted and merged.
    pub(super) fn start_merge(&mut self) {
        if let State::Gather(batch) = &mut self.state {
            batch.close_run();
            self.state = State::Sort(core::mem::take(batch), After::Rows);
        }
    }

    /// Has the updates that are resolved merged, and the others resolved after that.
    fn merge_folded(&mut self) {
        let state = core::mem::replace(&mut self.state, State::Gather(Batch::new()));
        if let State::Resolve(mut fold) = state {
            let batch = core::mem::take(&mut fold.out);
            let after = if fold.is_over() { After::Rows } else { After::Resolve(fold) };
            self.merge(batch, after);
        }
    }

    /// Has a sorted batch without updates merged.
    fn merge(&mut self, batch: Batch, after: After) {
        // A long value is written in slices.
        let is_small =
            |edit| !matches!(edit, Edit::Put(value) if value.bytes().len() > PIECE_BYTES);
        self.state = if batch.len() == 1 && is_small(batch.edit(0)) {
            State::PointEdit(batch, Box::new(PointEdit::new(self.tree, self.shape)), after)
        } else {
            let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
            State::Merge(batch, merge, after)
        };
    }

    /// Ends a build or a merge. Whether its chunks must be in the cache for the next step.
    pub(super) fn end(&mut self, tree: Tree, mut packer: Packer, after: After) -> bool {
        self.tree = tree;
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
            After::Resolve(fold) => State::Resolve(Box::new(fold.on(tree))),
            After::Rebase(rebase) => State::Rebase(Batch::new(), rebase),
        };
        read
    }
}
