//! Updates the indexes of a store to its rows.
//!
//! Each index records the tree of rows that it was made from. [`IndexMaintainer::update`] walks that tree and
//! the new one in lockstep. For each row that differs it removes the old entries and adds the new ones, sorted
//! and merged into the tree of the index: the cost is in proportion to the difference. Rows that stream into
//! an empty store are added as they pass ([`IndexMaintainer::add`]) and not read again. A partial index covers
//! the rows up to its reach; [`IndexMaintainer::extend`] extends it.

use super::gather::{Gatherer, Goal};
use super::pending::{PendingIndex, Reach, is_full};
use crate::batch::Batch;
use crate::boundary::Shape;
use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::index::{Definition, Entries, Members};
use crate::secret::Secret;
use crate::segment::{Packer, Sealed};
use crate::step::{Budget, Step};
use crate::tree::{Lockstep, Merge, Range, Tree};
use crate::value::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Bound;

#[derive(Debug)]
struct Walk {
    lockstep: Box<Lockstep>,
    goal: Goal,
    /// The key of the last row that was passed.
    last: Option<Vec<u8>>,
}

/// Updates the indexes of a store to its rows.
#[derive(Debug, Default)]
pub struct IndexMaintainer {
    indexes: Vec<PendingIndex>,
    walk: Option<Walk>,
    gatherer: Gatherer,
    /// The gathered entries take too much memory and must be merged.
    full: bool,
    /// The bytes of rows that an extension may read.
    extend: Option<usize>,
    /// The indexes that an extension makes, and whether all others are dropped.
    extended: Vec<Definition>,
    alone: bool,
    /// The chunks of merges before the last.
    spilled: Packer,
}

impl IndexMaintainer {
    /// Maintains the indexes of `forest`, or the `wanted` ones if it has no rows.
    ///
    /// # Errors
    /// [`Error::UnsupportedFormat`] for an index that this code does not know.
    pub fn new(forest: &Forest, wanted: &[Definition], secret: Secret) -> Result<Self, Error> {
        let mut indexes = PendingIndex::all_of(forest)?;
        if forest.tree(ROWS).is_empty() {
            let none = Tree::EMPTY;
            let empty =
                |index: &Definition| PendingIndex::new(index.clone(), Reach::All, none, none);
            indexes = wanted.iter().map(empty).collect();
        }
        let mut maintainer = Self { indexes, ..Self::default() };
        maintainer.gatherer.members = Members::new(secret);
        Ok(maintainer)
    }

    /// Returns whether there is no index.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// Returns whether the gathered entries should be merged before more are gathered.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.full
    }

    /// Returns whether rows must be read to update the indexes to `rows`.
    #[must_use]
    pub fn must_read(&self, rows: Tree) -> bool {
        self.extend.is_some() || (!rows.is_empty() && self.indexes.iter().any(|i| i.of != rows))
    }

    /// Adds the entries of a row that is put into the empty tree; returns the cost.
    pub fn add(&mut self, key: &[u8], kind: Kind, value: &[u8]) -> usize {
        let Self { indexes, gatherer: Gatherer { come, members, .. }, .. } = self;
        let mut cost = 0;
        for index in indexes.iter_mut().filter(|index| index.definition.takes(key)) {
            come.clear();
            if kind == Kind::Json {
                cost += index.definition.entries(key, value, members, come);
            }
            for entry in come.iter() {
                cost += index.push(entry, Entries::PUT);
            }
        }
        self.full |= is_full(indexes);
        cost
    }

    /// Sorts what was gathered in a slice, see [`Batch::close_long_run`]; returns the cost.
    pub fn close_long_runs(&mut self) -> usize {
        self.indexes.iter_mut().map(|index| index.batch.close_long_run()).sum()
    }

    /// Empties all indexes: all rows were deleted.
    pub fn clear(&mut self) {
        for index in &mut self.indexes {
            let definition = index.definition.clone();
            *index = PendingIndex::new(definition, Reach::All, Tree::EMPTY, Tree::EMPTY);
        }
        (self.walk, self.extend, self.full) = (None, None, false);
    }

    /// Records that the rows that were added are the tree `rows`.
    pub fn added(&mut self, rows: Tree) {
        self.indexes.iter_mut().for_each(|index| index.of = rows);
    }

    /// Moves the change onto the commit `theirs`, and maintains its indexes. If both have an index,
    /// the one that reaches further is kept.
    ///
    /// # Errors
    /// As [`IndexMaintainer::new`].
    pub fn rebase(&mut self, theirs: &Forest) -> Result<(), Error> {
        let own = core::mem::take(&mut self.indexes);
        if theirs.tree(ROWS).is_empty() {
            self.indexes = own;
            return Ok(());
        }
        self.indexes = PendingIndex::all_of(theirs)?;
        for index in own {
            let same = |other: &&mut PendingIndex| other.definition == index.definition;
            match self.indexes.iter_mut().find(same) {
                Some(other) if other.reach <= index.reach => *other = index,
                None if self.extended.contains(&index.definition) => self.indexes.push(index),
                _ => {}
            }
        }
        self.drop_others();
        Ok(())
    }

    fn drop_others(&mut self) {
        if self.alone {
            self.indexes.retain(|index| self.extended.contains(&index.definition));
        }
    }

    /// Extends the `wanted` indexes by about `work` bytes of rows in the next commit of `rows`; drops
    /// all others if `alone`.
    pub fn extend(&mut self, rows: Tree, wanted: &[Definition], alone: bool, work: usize) {
        (self.extended, self.alone) = (wanted.to_vec(), alone);
        self.drop_others();
        for wanted in wanted {
            if self.indexes.iter().all(|index| index.definition != *wanted) {
                self.indexes.push(PendingIndex::new(
                    wanted.clone(),
                    Reach::Nothing,
                    Tree::EMPTY,
                    rows,
                ));
            }
        }
        self.extend = Some(work);
    }

    /// Sets the indexes of a forest.
    pub fn set(&self, forest: &mut Forest) {
        forest.set_indexes(self.indexes.iter().filter_map(PendingIndex::name));
    }

    /// Takes the segments that are finished.
    pub fn take_sealed(&mut self) -> Vec<Sealed> {
        let mut sealed = self.spilled.take_sealed();
        for index in &mut self.indexes {
            if let Some(merge) = &mut index.merge {
                sealed.extend(merge.packer().take_sealed());
            }
        }
        sealed
    }

    /// Counts the chunks made before the last merges, and their bytes.
    #[must_use]
    pub const fn spilled(&self) -> (u64, u64) {
        (self.spilled.chunks(), self.spilled.bytes())
    }

    /// Updates the indexes to `rows`. If [`IndexMaintainer::must_read`], all chunks of `rows` must be in the
    /// cache. New chunks go to `packer`; the last of them are not sealed.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn update(
        &mut self,
        rows: Tree,
        shape: Shape,
        cache: &Cache,
        budget: &mut Budget,
        packer: &mut Packer,
    ) -> Result<Step<()>, Error> {
        if rows.is_empty() {
            self.clear();
        }
        while self.full || self.walk.is_some() || self.start_walk(rows) {
            let step = if self.full {
                self.spill(shape, cache, budget)?
            } else {
                self.walk(cache, budget)?
            };
            match step {
                Step::Done(()) => {}
                Step::Yield if self.full && !budget.is_over(cache) => {}
                waiting => return Ok(waiting),
            }
        }
        self.merge_all(shape, cache, budget, packer)
    }

    /// Begins the next walk; returns `false` if no walk is due.
    fn start_walk(&mut self, rows: Tree) -> bool {
        let behind = self.indexes.iter().find(|index| index.of != rows);
        let (lockstep, goal) = if let Some(index) = behind {
            (Lockstep::new(index.of, rows, Range::ALL), Goal::Rows(index.of, rows))
        } else {
            let Some(work) = self.extend.take() else { return false };
            let unfinished = self.indexes.iter().filter(|index| index.reach != Reach::All);
            let starts = unfinished.map(|index| match &index.reach {
                Reach::To(last) => Some(last),
                _ => None,
            });
            let Some(start) = starts.min() else { return false };
            let lower = start.map_or(Bound::Unbounded, |last| Bound::Excluded(last.clone()));
            let range = Range { lower, upper: Bound::Unbounded };
            (Lockstep::new(Tree::EMPTY, rows, range), Goal::Reach(work))
        };
        self.walk = Some(Walk { lockstep: Box::new(lockstep), goal, last: None });
        true
    }

    /// Continues the walk; done at its end, or when an extension has used up its work.
    fn walk(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let Self { indexes, walk, gatherer, full, .. } = self;
        let Some(Walk { lockstep, goal, last }) = walk else { return Ok(Step::Done(())) };
        let mut enough = false;
        let step = lockstep.step(cache, budget, &mut |old, new, budget| {
            if *full || enough {
                return Ok(Step::Yield);
            }
            let before = budget.spent();
            let step = gatherer.gather(indexes, goal, cache, budget, old, new)?;
            if let (Step::Done(()), Goal::Reach(left), Some(entry)) = (&step, &mut *goal, new) {
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(&entry.key);
                *left = left.saturating_sub(budget.spent() - before + entry.value.len());
                enough = *left == 0;
            }
            *full |= is_full(indexes);
            Ok(step)
        })?;
        let done = step == Step::Done(());
        if !done && !enough {
            return Ok(step);
        }
        match (&goal, last.take()) {
            (Goal::Rows(from, to), _) => {
                let moved = indexes.iter_mut().filter(|index| index.of == *from);
                moved.for_each(|index| index.of = *to);
            }
            (Goal::Reach(_), _) if done => {
                for index in indexes.iter_mut() {
                    index.reach = Reach::All;
                }
            }
            (Goal::Reach(_), Some(key)) => {
                for index in indexes.iter_mut().filter(|index| !index.reach.covers(&key)) {
                    index.reach = Reach::To(key.clone());
                }
            }
            (Goal::Reach(_), None) => {}
        }
        *walk = None;
        Ok(Step::Done(()))
    }

    /// Merges what was gathered so far, in segments of its own. Yields at the end, so that the host can
    /// add them to the cache.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn spill(
        &mut self,
        shape: Shape,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let mut packer = core::mem::take(&mut self.spilled);
        let step = self.merge_all(shape, cache, budget, &mut packer);
        self.spilled = packer;
        if step != Ok(Step::Done(())) {
            return step;
        }
        self.spilled.seal();
        self.full = false;
        budget.end();
        Ok(Step::Yield)
    }

    fn merge_all(
        &mut self,
        shape: Shape,
        cache: &Cache,
        budget: &mut Budget,
        packer: &mut Packer,
    ) -> Result<Step<()>, Error> {
        for index in &mut self.indexes {
            let merge = if let Some(merge) = &mut index.merge {
                merge
            } else {
                budget.spend(index.close_run());
                if index.batch.is_empty() {
                    continue;
                }
                if !index.batch.sort(budget) {
                    return Ok(Step::Yield);
                }
                let merge = Merge::new(index.tree, &index.batch, shape);
                let merge = index.merge.insert(Box::new(merge));
                core::mem::swap(merge.packer(), packer);
                merge
            };
            match merge.step(cache, &index.batch, budget)? {
                Step::Done(tree) => index.tree = tree,
                Step::Need(wanted) => return Ok(Step::Need(wanted)),
                Step::Yield => return Ok(Step::Yield),
            }
            core::mem::swap(merge.packer(), packer);
            index.merge = None;
            index.batch = Batch::new();
        }
        Ok(Step::Done(()))
    }
}
