//! A typed view of a node's bytes, and its strict decoder.
//!
//! Both kinds of node keep a table of 16-bit offsets before what it points into, so that a
//! search reads only the keys that it compares, and a view costs nothing to make. All
//! numbers are little-endian.
//!
//! ```text
//! leaf       level=0 | version | n:u16 | n x record end:u16 | n x record
//! record     key length:u16 (bits 14 and 15: the tag) | key | value or Far
//! internal   level>0 | version | n:u16 | n x key end:u16 | n x cumulative count:u64
//!                    | n x hash:32 | n x key (the last key of the child)
//! ```

use crate::boundary::Shape;
use crate::chunk::{ChunkKind, HEADER_BYTES};
use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::key::{Key, KeyFault};
use crate::limits::{MAX_ENTRIES, MAX_INLINE_VALUE_BYTES, MAX_KEY_BYTES};
use crate::value::{Far, Tag};
use core::cmp::Ordering;

/// Bytes before the offsets.
pub(crate) const NODE_HEADER_BYTES: usize = HEADER_BYTES + 2;
/// Bytes of a record besides its key and value.
pub(crate) const RECORD_BYTES: usize = 2;
/// Bytes that an entry takes of a leaf besides its key and value.
pub(crate) const LEAF_ENTRY_BYTES: usize = 2 + RECORD_BYTES;
/// Bytes that a child takes of an internal node besides its key.
pub(crate) const CHILD_BYTES: usize = 2 + 8 + HASH_BYTES;

/// The bits of a record's head that hold the length of its key.
pub(crate) const KEY_LENGTH_MASK: u16 = 0x3fff;

/// A node that has so many bytes of entries is full: it got its last entry before.
const FULL_BYTES: usize = Shape::STORED.full as usize;

/// Bytes of the largest leaf that an encoder makes: one byte short of full, and the largest entry.
pub const MAX_LEAF_BYTES: usize =
    NODE_HEADER_BYTES + FULL_BYTES - 1 + LEAF_ENTRY_BYTES + MAX_KEY_BYTES + MAX_INLINE_VALUE_BYTES;

/// Bytes of the largest internal node that an encoder makes.
pub const MAX_INNER_BYTES: usize = NODE_HEADER_BYTES + FULL_BYTES - 1 + CHILD_BYTES + MAX_KEY_BYTES;

const _: () = assert!(MAX_LEAF_BYTES <= u16::MAX as usize && MAX_INNER_BYTES <= MAX_LEAF_BYTES);

/// A count or an offset in a node: less than [`MAX_LEAF_BYTES`], as all of a node is.
pub(crate) const fn within_node(number: usize) -> u16 {
    debug_assert!(number < MAX_LEAF_BYTES, "no node is so large");
    number as u16
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// An entry as a leaf holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Key<'a>,
    /// What `value` is.
    pub tag: Tag,
    /// The value, or the bytes of a [`Far`] when `tag.far`.
    pub value: &'a [u8],
}

impl Entry<'_> {
    /// The address of the value, when it is stored out of line.
    #[must_use]
    pub fn far(&self) -> Option<Far> {
        self.tag.far.then(|| Far::read(self.value))
    }
}

/// The two bytes before the key in a record.
pub(crate) fn record_head(key: Key<'_>, tag: Tag) -> [u8; RECORD_BYTES] {
    const { assert!(MAX_KEY_BYTES <= KEY_LENGTH_MASK as usize) }
    ((key.len() as u16) | (tag.bits() << 14)).to_le_bytes()
}

/// A leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Leaf<'a> {
    /// Number of entries, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a node is never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn records_start(&self) -> usize {
        NODE_HEADER_BYTES + 2 * self.count
    }

    /// Where the records of entries `0..index` end, counted from the first record.
    pub(crate) fn end(&self, index: usize) -> usize {
        if index == 0 { 0 } else { u16_at(self.bytes, NODE_HEADER_BYTES + 2 * (index - 1)).into() }
    }

    /// The records of entries `from..to` as they are stored.
    pub(crate) fn records(&self, from: usize, to: usize) -> &'a [u8] {
        let start = self.records_start();
        &self.bytes[start + self.end(from)..start + self.end(to)]
    }

    /// The entry at `index`, below [`Leaf::len`].
    #[must_use]
    pub fn entry(&self, index: usize) -> Entry<'a> {
        let record = self.records(index, index + 1);
        let head = u16_at(record, 0);
        let split = RECORD_BYTES + usize::from(head & KEY_LENGTH_MASK);
        Entry {
            key: Key::kept(&record[RECORD_BYTES..split]),
            tag: Tag::from_bits(head >> 14),
            value: &record[split..],
        }
    }

    /// The key at `index`, below [`Leaf::len`].
    #[must_use]
    pub fn key(&self, index: usize) -> &'a [u8] {
        let start = self.records_start() + self.end(index);
        let len = usize::from(u16_at(self.bytes, start) & KEY_LENGTH_MASK);
        &self.bytes[start + RECORD_BYTES..start + RECORD_BYTES + len]
    }

    /// The index of `key` among the entries from `from` on, or of the first key above it.
    ///
    /// # Errors
    /// The place where it would stand, when it is absent.
    pub fn search(&self, from: usize, key: &[u8]) -> Result<usize, usize> {
        binary_search(from, self.count, |index| self.key(index).cmp(key))
    }

    fn check(&self) -> Result<(), DecodeError> {
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
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Inner<'a> {
    /// Number of children, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a node is never empty")]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// The level, at least 1.
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

    /// The last key of the child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn key(&self, index: usize) -> &'a [u8] {
        let start = self.keys_start();
        &self.bytes[start + self.key_end(index)..start + self.key_end(index + 1)]
    }

    /// The address of the child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn hash(&self, index: usize) -> Hash {
        Hash::read(&self.bytes[self.hashes_start() + HASH_BYTES * index..])
    }

    /// Entries under the children `0..index`; `index` is at most [`Inner::len`].
    #[must_use]
    pub fn count_before(&self, index: usize) -> u64 {
        if index == 0 { 0 } else { u64_at(self.bytes, self.counts_start() + 8 * (index - 1)) }
    }

    /// The child at `index`, below [`Inner::len`].
    #[must_use]
    pub fn child(&self, index: usize) -> Child<'a> {
        let count = self.count_before(index + 1) - self.count_before(index);
        Child { key: Key::kept(self.key(index)), hash: self.hash(index), count }
    }

    /// The index of the child, among those from `from` on, whose keys may include `key`:
    /// the first whose last key is not below it. [`Inner::len`] when there is none.
    #[must_use]
    pub fn route(&self, from: usize, key: &[u8]) -> usize {
        match binary_search(from, self.count, |index| self.key(index).cmp(key)) {
            Ok(index) | Err(index) => index,
        }
    }

    /// The bytes of the node.
    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    fn check(&self) -> Result<(), DecodeError> {
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

/// A node of either kind.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// Level 0.
    Leaf(Leaf<'a>),
    /// Any higher level.
    Inner(Inner<'a>),
}

impl<'a> Node<'a> {
    /// Checks all of `bytes` and makes a view of them. Allocates nothing.
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

    /// A view of `bytes` that [`Node::decode`] has passed before, or that were built here.
    pub(crate) fn view(bytes: &'a [u8]) -> Self {
        let count = usize::from(u16_at(bytes, HEADER_BYTES));
        if bytes[0] == 0 {
            Self::Leaf(Leaf { bytes, count })
        } else {
            Self::Inner(Inner { bytes, count })
        }
    }

    /// 0 for a leaf.
    #[must_use]
    pub const fn level(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner(inner) => inner.level(),
        }
    }

    /// Entries in the subtree.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self {
            Self::Leaf(leaf) => leaf.count as u64,
            Self::Inner(inner) => inner.count_before(inner.count),
        }
    }

    /// The last key in the subtree.
    #[must_use]
    pub fn last_key(&self) -> &'a [u8] {
        match self {
            Self::Leaf(leaf) => leaf.key(leaf.count - 1),
            Self::Inner(inner) => inner.key(inner.count - 1),
        }
    }

    /// The first key that this node names: of an entry, or of the end of a child.
    #[must_use]
    pub fn first_key(&self) -> &'a [u8] {
        match self {
            Self::Leaf(leaf) => leaf.key(0),
            Self::Inner(inner) => inner.key(0),
        }
    }

    /// Checks that this is what `parent` says of its child at `index`.
    ///
    /// # Errors
    /// `ChildLevel`, `ChildKey`, `ChildCount`, or `KeyOrder` when it reaches into the keys of
    /// the child before it.
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

/// Takes the bytes at `at` as a key, of which `length_at` is where its length stands.
fn check_key<'k>(
    bytes: &'k [u8],
    previous: Option<&[u8]>,
    at: usize,
    length_at: usize,
) -> Result<Key<'k>, DecodeError> {
    let len = bytes.len() as u64;
    let key = Key::parse(bytes).map_err(|fault| match fault {
        KeyFault::TooLong => {
            DecodeError::new(Field::KeyLength, length_at, MAX_KEY_BYTES as u64, len)
        }
        KeyFault::NotText(valid) => DecodeError::new(Field::KeyText, at + valid, len, valid as u64),
    })?;
    if previous.is_some_and(|previous| previous >= bytes) {
        return Err(DecodeError::new(Field::KeyOrder, at, 0, len));
    }
    Ok(key)
}

fn binary_search(
    from: usize,
    to: usize,
    compare: impl Fn(usize) -> Ordering,
) -> Result<usize, usize> {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low.midpoint(high);
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(middle),
        }
    }
    Err(low)
}
