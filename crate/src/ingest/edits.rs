//! Takes edits from code that has read and checked them itself, instead of a reader of rows.

use super::Ingest;
use super::state::State;
use crate::batch::Edit;
use crate::key::Key;
use crate::step::{Budget, COPIED_BYTES};

impl Ingest {
    /// Returns whether it takes edits now; if not, step it until it is done, and ask again.
    #[must_use]
    pub fn takes_edits(&self) -> bool {
        match &self.state {
            State::Stream(_) => true,
            State::Gather(batch) => self.commit.is_none() && batch.held_bytes() <= self.spill_bytes,
            _ => false,
        }
    }

    /// Takes an edit, if [`Ingest::takes_edits`]. The last edit of a key wins.
    pub fn edit(&mut self, key: Key<'_>, edit: Edit<'_>, budget: &mut Budget) {
        if let State::Stream(_) = self.state {
            self.end_stream();
        }
        let State::Gather(batch) = &mut self.state else { return };
        // If the tree was empty, the new tree has all keys that were put.
        if !self.base.is_empty() || edit == Edit::Delete {
            budget.spend(self.touched.add(&key));
        }
        if let Edit::Put(value) = edit {
            budget.spend(value.bytes().len() / COPIED_BYTES);
        }
        batch.push(key, edit);
        self.rows += 1;
        budget.spend(64);
    }

    /// Sorts the edits since the last call. Call it when edits pause, so that no later slice has to.
    pub fn close_edits(&mut self, budget: &mut Budget) {
        if let State::Gather(batch) = &mut self.state {
            budget.spend(batch.close_run());
        }
    }
}
