//! The states of an ingest.

use crate::batch::Batch;
use crate::segment::{Packer, Sealed};
use crate::tree::{Builder, Merge, PointEdit, Rebase, ResolveUpdates};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The state of an ingest, and its data.
#[derive(Debug)]
pub(super) enum State {
    /// Rows stream into a new tree.
    Stream(Box<Builder>),
    /// Rows are gathered.
    Gather(Batch),
    /// Gathered edits are sorted, then merged.
    Sort(Batch),
    /// Updates are turned into puts.
    Resolve(Box<ResolveUpdates>),
    /// The batch has one edit, which is made directly.
    PointEdit(Batch, Box<PointEdit>),
    /// Edits are merged into the tree.
    Merge(Batch, Box<Merge>),
    /// Changes of another writer are gathered.
    Rebase(Batch, Box<Rebase>),
    /// The rows are done and indexes are updated. The commit chunk follows the last chunks of these.
    Index(Packer),
    /// Rows and indexes are done. It waits for the host to update the sum trees.
    Sums(Packer),
}

/// The work after a merge.
#[derive(Debug, Default)]
pub(super) enum After {
    /// Further rows, or the end.
    #[default]
    Rows,
    /// The updates that are not resolved yet.
    Resolve(Box<ResolveUpdates>),
    /// Further changes of another writer.
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
