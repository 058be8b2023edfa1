//! A tree with its name, as a commit stores it.

use super::name::{INDEX, PARTIAL_INDEX, SUMS, TreeName};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Bytes of hash and sum of the root of a sum tree, which come before its definition.
pub const SUM_ROOT_BYTES: usize = 40;

/// A tree with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: TreeName,
    /// The tree.
    pub tree: Tree,
    /// Of a partial index: the key of the last row that it covers. Of a sum tree: hash and sum of its
    /// root, and its definition.
    pub reach: Option<Vec<u8>>,
}

/// Returns whether it is the tree of an index, complete or partial.
pub(super) fn is_index(name: &TreeName) -> bool {
    matches!(name.kind(), Some(INDEX | PARTIAL_INDEX))
}

impl Named {
    /// Returns the definition of a sum tree that follows rows; empty for any other tree.
    #[must_use]
    pub fn sum_definition(&self) -> &[u8] {
        if self.name.kind() != Some(SUMS) {
            return &[];
        }
        self.reach.as_deref().and_then(|reach| reach.get(SUM_ROOT_BYTES..)).unwrap_or_default()
    }

    /// Returns whether it is derived from the rows.
    pub(super) fn is_bound(&self) -> bool {
        is_index(&self.name) || !self.sum_definition().is_empty()
    }
}
