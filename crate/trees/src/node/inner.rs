//! An internal node: the last key, the count of entries and the hash of each child.

use super::layout::{CHILD_BYTES, NODE_HEADER_BYTES, binary_search, check_key};
use crate::boundary::Shape;
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::key::Key;
use crate::le::{u16_at, u64_at};
use crate::limits::MAX_ENTRIES;

/// A child as an internal node names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child<'a> {
    /// The last key in the child.
    pub key: Key<'a>,
    /// The child's address.
    pub hash: Hash,
    /// Entries under the child, at least 1.
    pub count: u64,
}

/// An internal node.
#[derive(Clone, Copy, Debug)]
pub struct Inner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) count: usize,
}

impl<'a> Inner<'a> {
    /// Returns the number of children, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a node is never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns the level, at least 1.
    #[must_use]
    pub const fn level(&self) -> u8 {
        self.bytes[0]
    }

    pub(crate) const fn counts_start(&self) -> usize {
        NODE_HEADER_BYTES + 2 * self.count
    }

    pub(crate) const fn hashes_start(&self) -> usize {
        self.counts_start() + 8 * self.count
    }

    pub(crate) const fn keys_start(&self) -> usize {
        self.hashes_start() + HASH_BYTES * self.count
    }

    pub(crate) fn key_end(&self, index: usize) -> usize {
        if index == 0 { 0 } else { u16_at(self.bytes, NODE_HEADER_BYTES + 2 * (index - 1)).into() }
    }

    /// Returns whether the boundary function ends the node after the child at `index`. Costs a hash of its key.
    pub(crate) fn ends(&self, shape: Shape, index: usize) -> bool {
        let offset = |at: usize| CHILD_BYTES * at + self.key_end(at);
        shape.ends(self.level(), self.key(index), offset(index), offset(index + 1), index + 1)
    }

    /// Returns the last key of the child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn key(&self, index: usize) -> &'a [u8] {
        let start = self.keys_start();
        &self.bytes[start + self.key_end(index)..start + self.key_end(index + 1)]
    }

    /// Returns the address of the child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn hash(&self, index: usize) -> Hash {
        Hash::read(&self.bytes[self.hashes_start() + HASH_BYTES * index..])
    }

    /// Returns the number of entries under the children `0..index`; `index` is at most [`Inner::len`].
    #[must_use]
    pub fn count_before(&self, index: usize) -> u64 {
        if index == 0 { 0 } else { u64_at(self.bytes, self.counts_start() + 8 * (index - 1)) }
    }

    /// Returns the child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn child(&self, index: usize) -> Child<'a> {
        let count = self.count_before(index + 1) - self.count_before(index);
        Child { key: Key::trusted(self.key(index)), hash: self.hash(index), count }
    }

    /// Returns the index of the child that may contain `key`: the first, not before `from`, whose last
    /// key is not below `key`. [`Inner::len`] if there is no such child.
    #[must_use]
    pub fn route(&self, from: usize, key: &[u8]) -> usize {
        match binary_search(from, self.count, |index| self.key(index).cmp(key)) {
            Ok(index) | Err(index) => index,
        }
    }

    /// Returns the bytes of the node.
    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Checks everything but the header.
    pub(super) fn check(&self) -> Result<(), DecodeError> {
        let start = self.keys_start();
        if start > self.bytes.len() {
            let got = self.bytes.len() as u64;
            return Err(DecodeError::new(Field::Length, 2, start as u64, got));
        }
        let mut previous: Option<&[u8]> = None;
        let mut total = 0;
        for index in 0..self.count {
            let (from, to) = (self.key_end(index), self.key_end(index + 1));
            let table = NODE_HEADER_BYTES + 2 * index;
            if to < from || start + to > self.bytes.len() {
                return Err(DecodeError::new(Field::Offset, table, from as u64, to as u64));
            }
            let count = self.count_before(index + 1);
            if count <= total || count > MAX_ENTRIES {
                let at = self.counts_start() + 8 * index;
                return Err(DecodeError::new(Field::EntryCount, at, total + 1, count));
            }
            total = count;
            let key = check_key(self.key(index), previous, start + from, table)?;
            previous = Some(key.bytes());
        }
        let end = start + self.key_end(self.count);
        if end != self.bytes.len() {
            return Err(DecodeError::new(Field::Length, end, end as u64, self.bytes.len() as u64));
        }
        Ok(())
    }
}
