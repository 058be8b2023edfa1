//! One index of a commit that is being made, and the edits that were gathered for it.

use crate::batch::{Batch, Edit};
use crate::error::Error;
use crate::forest::{Forest, INDEX, Named, PARTIAL_INDEX, ROWS};
use crate::index::Definition;
use crate::key::Key;
use crate::tree::{Merge, Tree};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Gathered entries are merged when they take more memory than this.
const SPILL_BYTES: usize = 24 << 20;

/// The number of entries that are sorted at once.
const RUN_ENTRIES: usize = 2048;

/// The rows that an index covers: up to a key, or all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    Nothing,
    To(Vec<u8>),
    All,
}

impl Reach {
    pub(super) fn covers(&self, key: &[u8]) -> bool {
        match self {
            Self::Nothing => false,
            Self::To(last) => key <= &last[..],
            Self::All => true,
        }
    }
}

/// One index of a commit that is being made, and the edits that were gathered for it.
#[derive(Debug)]
pub(super) struct PendingIndex {
    pub(super) definition: Definition,
    pub(super) reach: Reach,
    pub(super) tree: Tree,
    /// The tree of rows that it was made from.
    pub(super) of: Tree,
    pub(super) batch: Batch,
    /// Entries since the last run was closed.
    open: usize,
    /// A run was closed since memory was last measured.
    grown: bool,
    pub(super) merge: Option<Box<Merge>>,
}

impl PendingIndex {
    pub(super) fn new(definition: Definition, reach: Reach, tree: Tree, of: Tree) -> Self {
        Self {
            definition,
            reach,
            tree,
            of,
            batch: Batch::new(),
            open: 0,
            grown: false,
            merge: None,
        }
    }

    /// Adds an edit, and sorts the open run when it is full; returns the cost.
    pub(super) fn push(&mut self, entry: Key<'_>, edit: Edit<'_>) -> usize {
        self.batch.push(entry, edit);
        self.open += 1;
        let mut cost = 64 + entry.len();
        if self.open == RUN_ENTRIES {
            cost += self.close_run();
            self.grown = true;
        }
        cost
    }

    /// Sorts the edits since the last run; returns the cost.
    pub(super) fn close_run(&mut self) -> usize {
        self.open = 0;
        self.batch.close_run()
    }

    /// Returns the tree as a commit names it; `None` if it covers no rows yet.
    pub(super) fn name(&self) -> Option<Named> {
        let (first, reach) = match &self.reach {
            Reach::Nothing => return None,
            Reach::To(last) => (PARTIAL_INDEX, Some(last.clone())),
            Reach::All => (INDEX, None),
        };
        Some(Named { name: self.definition.name(first), tree: self.tree, reach })
    }

    /// Returns the indexes that `forest` names.
    pub(super) fn all_of(forest: &Forest) -> Result<Vec<Self>, Error> {
        let of = forest.tree(ROWS);
        let mut all = Vec::new();
        for named in forest.indexes() {
            // Written by a newer version: refuse it, instead of dropping the index.
            let (definition, complete) = Definition::of_tree(&named.name)
                .ok_or(Error::UnsupportedFormat { version: INDEX })?;
            let reach = match &named.reach {
                Some(last) if !complete => Reach::To(last.clone()),
                _ => Reach::All,
            };
            all.push(Self::new(definition, reach, named.tree, of));
        }
        Ok(all)
    }
}

/// Returns whether the gathered edits take too much memory, which is measured only after a run was closed.
pub(super) fn is_full(indexes: &mut [PendingIndex]) -> bool {
    let mut grown = false;
    for index in indexes.iter_mut() {
        grown |= core::mem::take(&mut index.grown);
    }
    let held = |index: &PendingIndex| index.batch.held_bytes();
    grown && indexes.iter().map(held).sum::<usize>() > SPILL_BYTES
}
