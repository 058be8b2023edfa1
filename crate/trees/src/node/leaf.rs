//! A leaf: a sequence of entries, each a key and a value.

use super::layout::{KEY_LENGTH_MASK, NODE_HEADER_BYTES, RECORD_BYTES, binary_search, check_key};
use crate::boundary::Shape;
use crate::error::{DecodeError, Field};
use crate::key::Key;
use crate::le::u16_at;
use crate::limits::MAX_KEY_BYTES;
use crate::value::{Tag, ValueRef};

/// An entry of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The kind of `value`, and whether it is a reference.
    pub tag: Tag,
    /// The value, or the bytes of a [`ValueRef`] when `tag.is_ref`.
    pub value: &'a [u8],
}

impl Entry<'_> {
    /// Returns the reference to the value, if it is stored out of line.
    #[must_use]
    pub fn value_ref(&self) -> Option<ValueRef> {
        self.tag.is_ref.then(|| ValueRef::read(self.value))
    }
}

/// Returns the two bytes before the key in a record.
pub(crate) fn record_head(key: Key<'_>, tag: Tag) -> [u8; RECORD_BYTES] {
    const { assert!(MAX_KEY_BYTES <= KEY_LENGTH_MASK as usize) }
    ((key.len() as u16) | (tag.bits() << 14)).to_le_bytes()
}

/// A leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) count: usize,
}

impl<'a> Leaf<'a> {
    /// Returns the number of entries, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a node is never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn records_start(&self) -> usize {
        NODE_HEADER_BYTES + 2 * self.count
    }

    /// Returns where the records of entries `0..index` end, counted from the first record.
    pub(crate) fn end(&self, index: usize) -> usize {
        if index == 0 { 0 } else { u16_at(self.bytes, NODE_HEADER_BYTES + 2 * (index - 1)).into() }
    }

    /// Counts the bytes of the entries `0..index`, as the boundary function counts them.
    pub(crate) fn offset(&self, index: usize) -> usize {
        2 * index + self.end(index)
    }

    /// Returns whether the boundary function ends the node after the entry at `index`. Costs a hash of its key.
    pub(crate) fn ends(&self, shape: Shape, index: usize) -> bool {
        shape.ends(0, self.key(index), self.offset(index), self.offset(index + 1), index + 1)
    }

    /// Returns the records of entries `from..to` as they are stored.
    pub(crate) fn records(&self, from: usize, to: usize) -> &'a [u8] {
        let start = self.records_start();
        &self.bytes[start + self.end(from)..start + self.end(to)]
    }

    /// Returns the entry at `index`, below [`Leaf::len`].
    #[must_use]
    pub fn entry(&self, index: usize) -> Entry<'a> {
        let record = self.records(index, index + 1);
        let head = u16_at(record, 0);
        let split = RECORD_BYTES + usize::from(head & KEY_LENGTH_MASK);
        Entry {
            key: Key::trusted(&record[RECORD_BYTES..split]),
            tag: Tag::from_bits(head >> 14),
            value: &record[split..],
        }
    }

    /// Returns the key at `index`, below [`Leaf::len`].
    #[must_use]
    pub fn key(&self, index: usize) -> &'a [u8] {
        let start = self.records_start() + self.end(index);
        let len = usize::from(u16_at(self.bytes, start) & KEY_LENGTH_MASK);
        &self.bytes[start + RECORD_BYTES..start + RECORD_BYTES + len]
    }

    /// Returns the index of the entry of `key`, searched from the index `from`.
    ///
    /// # Errors
    /// If it is absent, the index where it would be.
    pub fn search(&self, from: usize, key: &[u8]) -> Result<usize, usize> {
        binary_search(from, self.count, |index| self.key(index).cmp(key))
    }

    /// Checks everything but the header.
    pub(super) fn check(&self) -> Result<(), DecodeError> {
        let start = self.records_start();
        let mut previous: Option<&[u8]> = None;
        for index in 0..self.count {
            let (from, to) = (self.end(index), self.end(index + 1));
            let table = NODE_HEADER_BYTES + 2 * index;
            let at = start + from;
            if to < from + RECORD_BYTES || start + to > self.bytes.len() {
                let expected = (from + RECORD_BYTES) as u64;
                return Err(DecodeError::new(Field::Offset, table, expected, to as u64));
            }
            let head = u16_at(self.bytes, at);
            let key_len = usize::from(head & KEY_LENGTH_MASK);
            let room = to - from - RECORD_BYTES;
            if key_len > room {
                return Err(DecodeError::new(Field::KeyLength, at, room as u64, key_len as u64));
            }
            let (key, value) = self.bytes[at + RECORD_BYTES..start + to].split_at(key_len);
            let key = check_key(key, previous, at + RECORD_BYTES, at)?;
            Tag::from_bits(head >> 14).check(value, at + RECORD_BYTES + key_len)?;
            previous = Some(key.bytes());
        }
        let end = start + self.end(self.count);
        if end != self.bytes.len() {
            return Err(DecodeError::new(Field::Length, end, end as u64, self.bytes.len() as u64));
        }
        Ok(())
    }
}
