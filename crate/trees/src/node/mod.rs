//! A typed view of a node's bytes, and its strict decoder.
//!
//! Both kinds of node begin with a table of 16-bit offsets, so that a search reads only the keys
//! that it compares, and making a view is free. All numbers are little-endian.
//!
//! ```text
//! leaf       level=0 | version | n:u16 | n x record end:u16 | n x record
//! record     key length:u16 (bits 14 and 15: the tag) | key | value or ValueRef
//! internal   level>0 | version | n:u16 | n x key end:u16 | n x cumulative count:u64
//!                    | n x hash:32 | n x key (the last key of the child)
//! ```

mod inner;
mod layout;
mod leaf;

pub use inner::{Child, Inner};
pub use layout::{CHILD_BYTES, MAX_INNER_BYTES, MAX_LEAF_BYTES, NODE_HEADER_BYTES};
pub(crate) use layout::{KEY_LENGTH_MASK, LEAF_ENTRY_BYTES, RECORD_BYTES, within_node};
pub(crate) use leaf::record_head;
pub use leaf::{Entry, Leaf};

use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::le::u16_at;

/// A node of either kind.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// Level 0.
    Leaf(Leaf<'a>),
    /// Any higher level.
    Inner(Inner<'a>),
}

impl<'a> Node<'a> {
    /// Checks all of `bytes` and makes a view of them. Does not allocate.
    ///
    /// # Errors
    /// The first fault: kind, version, count, offsets, lengths, UTF-8 and order of keys,
    /// growth of counts, bytes left over.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let ChunkKind::Node(_) = ChunkKind::decode(bytes)? else {
            return Err(DecodeError::new(Field::Kind, 0, 0, bytes[0].into()));
        };
        let most = if bytes[0] == 0 { MAX_LEAF_BYTES } else { MAX_INNER_BYTES };
        if bytes.len() < NODE_HEADER_BYTES || bytes.len() > most {
            return Err(DecodeError::new(Field::Length, 0, most as u64, bytes.len() as u64));
        }
        let count = usize::from(u16_at(bytes, HEADER_BYTES));
        if count == 0 {
            return Err(DecodeError::new(Field::Count, HEADER_BYTES, 1, 0));
        }
        let table_end = NODE_HEADER_BYTES + 2 * count;
        if table_end > bytes.len() {
            let got = bytes.len() as u64;
            return Err(DecodeError::new(Field::Length, HEADER_BYTES, table_end as u64, got));
        }
        let node = Self::view(bytes);
        match node {
            Self::Leaf(leaf) => leaf.check()?,
            Self::Inner(inner) => inner.check()?,
        }
        Ok(node)
    }

    /// Makes a view of `bytes` that were checked by [`Node::decode`] before, or were built here.
    pub(crate) fn view(bytes: &'a [u8]) -> Self {
        let count = usize::from(u16_at(bytes, HEADER_BYTES));
        if bytes[0] == 0 {
            Self::Leaf(Leaf { bytes, count })
        } else {
            Self::Inner(Inner { bytes, count })
        }
    }

    /// Returns the level, 0 for a leaf.
    #[must_use]
    pub const fn level(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner(inner) => inner.level(),
        }
    }

    /// Returns the number of entries in the subtree.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self {
            Self::Leaf(leaf) => leaf.count as u64,
            Self::Inner(inner) => inner.count_before(inner.count),
        }
    }

    /// Returns the last key in the subtree.
    #[must_use]
    pub fn last_key(&self) -> &'a [u8] {
        match self {
            Self::Leaf(leaf) => leaf.key(leaf.count - 1),
            Self::Inner(inner) => inner.key(inner.count - 1),
        }
    }

    /// Returns the first key in this node: of its first entry, or the last key of its first child.
    #[must_use]
    pub fn first_key(&self) -> &'a [u8] {
        match self {
            Self::Leaf(leaf) => leaf.key(0),
            Self::Inner(inner) => inner.key(0),
        }
    }

    /// Checks this node against the child at `index` as `parent` describes it.
    ///
    /// # Errors
    /// `ChildLevel`, `ChildKey`, `ChildCount`, or `KeyOrder` if it overlaps with the child before it.
    pub fn check_parent(&self, parent: &Inner<'_>, index: usize) -> Result<(), DecodeError> {
        let level = parent.level();
        let child = parent.child(index);
        if self.level() + 1 != level {
            let expected = u64::from(level) - 1;
            return Err(DecodeError::new(Field::ChildLevel, 0, expected, self.level().into()));
        }
        if self.total() != child.count {
            return Err(DecodeError::new(Field::ChildCount, 2, child.count, self.total()));
        }
        if self.last_key() != child.key.bytes() {
            let (expected, got) = (child.key.len() as u64, self.last_key().len() as u64);
            return Err(DecodeError::new(Field::ChildKey, 0, expected, got));
        }
        if index > 0 && self.first_key() <= parent.key(index - 1) {
            return Err(DecodeError::new(Field::KeyOrder, 0, 0, 0));
        }
        Ok(())
    }
}
