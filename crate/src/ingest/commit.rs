//! The end of a change: indexes and sum trees are updated, and a commit chunk names all trees.

use super::Ingest;
use super::state::State;
use crate::batch::Batch;
use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::index::Definition;
use crate::segment::{Packer, Sealed};
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

impl Ingest {
    /// Extends the `wanted` indexes that are missing or partial by about `work` bytes of rows, in the
    /// commit of this change. Drops all others if `alone`.
    pub fn extend_indexes(&mut self, wanted: &[Definition], alone: bool, work: usize) {
        self.indexes.extend(self.tree, wanted, alone, work);
    }

    /// Updates the indexes to the rows, and then names all trees unless sum trees are awaited.
    pub(super) fn step_index(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let State::Index(packer) = &mut self.state else { return Ok(Step::Yield) };
        let step = self.indexes.update(self.tree, self.shape, cache, budget, packer);
        self.collect();
        if step == Ok(Step::Done(())) {
            if !self.has_sums {
                self.name()?;
            } else if let State::Index(packer) = &mut self.state {
                self.state = State::Sums(core::mem::take(packer));
            }
        }
        step
    }

    /// Makes the ingest wait for sum trees before it names all trees: see [`Ingest::awaits_sums`].
    pub const fn expect_sums(&mut self) {
        self.has_sums = true;
    }

    /// Returns whether the rows and their indexes are done, and the host must update the sum trees
    /// of [`Ingest::forest`] to [`Ingest::row_trees`] and then call [`Ingest::name`].
    #[must_use]
    pub const fn awaits_sums(&self) -> bool {
        matches!(self.state, State::Sums(_))
    }

    /// Returns the trees that the commit names, as far as they are set.
    pub const fn forest(&mut self) -> &mut Forest {
        &mut self.forest
    }

    /// Returns the tree of rows of the forest, and the new one that replaces it.
    #[must_use]
    pub fn row_trees(&self) -> (Tree, Tree) {
        (self.forest.tree(ROWS), self.tree)
    }

    /// Calls `pack` to add further chunks to the commit; `None` unless it awaits sums.
    pub fn pack<T>(&mut self, pack: impl FnOnce(&mut Packer) -> T) -> Option<T> {
        let State::Sums(packer) = &mut self.state else { return None };
        let packed = pack(packer);
        self.sealed.extend(packer.take_sealed());
        Some(packed)
    }

    /// Makes the commit chunk, and packs it with the chunks that are not sealed yet: so a small change is
    /// one segment. The host calls it once the sum trees are set.
    ///
    /// # Errors
    /// [`Error::CommitTooLarge`].
    pub fn name(&mut self) -> Result<(), Error> {
        let (State::Index(packer) | State::Sums(packer)) = &mut self.state else { return Ok(()) };
        self.forest.set_rows(self.tree);
        self.indexes.set(&mut self.forest);
        self.commit = Some(self.forest.commit(packer)?);
        let mut packer = core::mem::take(packer);
        self.state = State::Gather(Batch::new());
        packer.seal();
        self.sealed.extend(packer.take_sealed());
        self.count(&packer);
        Ok(())
    }

    pub(super) const fn count(&mut self, packer: &Packer) {
        self.chunks += packer.chunks();
        self.chunk_bytes += packer.bytes();
    }

    pub(super) fn collect(&mut self) {
        self.sealed.extend(self.state.take_sealed());
        self.sealed.extend(self.indexes.take_sealed());
    }

    /// Takes the segments that are finished.
    pub fn sealed(&mut self) -> Vec<Sealed> {
        core::mem::take(&mut self.sealed)
    }

    /// Returns the hash of the commit chunk and the forest, after the last step.
    #[must_use]
    pub fn committed(&self) -> Option<(Hash, &Forest)> {
        self.commit.map(|hash| (hash, &self.forest))
    }

    /// Counts the rows read so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Counts the edits that took the fast path ([`PointEdit`](crate::tree::PointEdit)).
    #[must_use]
    pub const fn fast(&self) -> u64 {
        self.fast
    }

    /// Counts the chunks made; known after the last step.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks + self.indexes.spilled().0
    }

    /// Counts the bytes of these chunks.
    #[must_use]
    pub const fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes + self.indexes.spilled().1
    }
}
