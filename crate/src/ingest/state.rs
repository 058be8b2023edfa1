//! What an ingest does at a time, and what it does that with.

use crate::batch::Batch;
use crate::segment::{Packer, Sealed};
use crate::tree::{Builder, Merge, PointEdit, Rebase, ResolveUpdates};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What an ingest does, and what it does that with.
#[derive(Debug)]
pub(super) enum State {
    /// Rows stream into a new tree.
    Stream(Box<Builder>),
    /// Rows are gathered.
    Gather(Batch),
    /// What was gathered is sorted, then merged.
    Sort(Batch),
    /// Updates are turned into puts.
    Resolve(Box<ResolveUpdates>),
    /// The only edit is made.
    PointEdit(Batch, Box<PointEdit>),
    /// Edits are merged into the tree.
    Merge(Batch, Box<Merge>),
    /// What another writer changed is gathered.
    Rebase(Batch, Box<Rebase>),
    /// The rows are done; the commit chunk goes behind the last chunks of their indexes.
    Index(Packer),
    /// So are those; sum trees are to be brought to the rows before all trees are named.
    Sums(Packer),
}

/// What follows a merge, which may be one of a part of something larger.
#[derive(Debug, Default)]
pub(super) enum After {
    /// Further rows, if there are some.
    #[default]
    Rows,
    /// The other updates.
    Resolve(Box<ResolveUpdates>),
    /// What else another writer changed.
    Rebase(Box<Rebase>),
}

impl State {
    /// Takes the segments that are finished.
    pub(super) fn take_sealed(&mut self) -> Vec<Sealed> {
        match self {
            Self::Stream(builder) => builder.packer().take_sealed(),
            Self::Merge(_, merge) => merge.packer().take_sealed(),
            Self::PointEdit(_, edit) => edit.packer().take_sealed(),
            Self::Index(packer) | Self::Sums(packer) => packer.take_sealed(),
            Self::Gather(_) | Self::Sort(_) | Self::Resolve(_) | Self::Rebase(..) => Vec::new(),
        }
    }
}
