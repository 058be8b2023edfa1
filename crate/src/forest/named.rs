//! A tree as a commit names it.

use super::name::{INDEX, PARTIAL_INDEX, SUMS, TreeName};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Bytes of hash and sum of the root of a sum tree, which stand before its definition.
pub const SUM_ROOT_BYTES: usize = 40;

/// A tree by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: TreeName,
    /// The tree.
    pub tree: Tree,
    /// Of an index in the making: the last row that it is made of. Of a sum tree: hash and sum of
    /// its root, and its definition.
    pub reach: Option<Vec<u8>>,
}

/// Whether it is the tree of an index, also of one in the making.
pub(super) fn is_index(name: &TreeName) -> bool {
    matches!(name.kind(), Some(INDEX | PARTIAL_INDEX))
}

impl Named {
    /// Of a sum tree, what its leaves are made of; empty when they are put by hand.
    #[must_use]
    pub fn sum_definition(&self) -> &[u8] {
        if self.name.kind() != Some(SUMS) {
            return &[];
        }
        self.reach.as_deref().and_then(|reach| reach.get(SUM_ROOT_BYTES..)).unwrap_or_default()
    }

    /// Whether it is made of the rows.
    pub(super) fn is_bound(&self) -> bool {
        is_index(&self.name) || !self.sum_definition().is_empty()
    }
}
