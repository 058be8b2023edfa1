//! Shared by both kinds of node: the sizes of their parts, the check of keys, and the search.

use crate::boundary::Shape;
use crate::chunk::HEADER_BYTES;
use crate::error::{DecodeError, Field};
use crate::hash::HASH_BYTES;
use crate::key::{Key, KeyFault};
use crate::limits::{MAX_INLINE_VALUE_BYTES, MAX_KEY_BYTES};
use core::cmp::Ordering;

/// Bytes before the offsets.
pub const NODE_HEADER_BYTES: usize = HEADER_BYTES + 2;
/// Bytes of a record besides its key and value.
pub(crate) const RECORD_BYTES: usize = 2;
/// Bytes of an entry in a leaf besides its key and value.
pub(crate) const LEAF_ENTRY_BYTES: usize = 2 + RECORD_BYTES;
/// Bytes of a child in an internal node besides its key.
pub const CHILD_BYTES: usize = 2 + 8 + HASH_BYTES;

/// The bits of a record's head that hold the length of its key.
pub(crate) const KEY_LENGTH_MASK: u16 = 0x3fff;

/// A node with this many bytes of entries is full and gets no further entry.
const FULL_BYTES: usize = Shape::STORED.full as usize;

/// Bytes of the largest leaf: one byte less than full, and then the largest entry.
pub const MAX_LEAF_BYTES: usize =
    NODE_HEADER_BYTES + FULL_BYTES - 1 + LEAF_ENTRY_BYTES + MAX_KEY_BYTES + MAX_INLINE_VALUE_BYTES;

/// Bytes of the largest internal node.
pub const MAX_INNER_BYTES: usize = NODE_HEADER_BYTES + FULL_BYTES - 1 + CHILD_BYTES + MAX_KEY_BYTES;

const _: () = assert!(MAX_LEAF_BYTES <= u16::MAX as usize && MAX_INNER_BYTES <= MAX_LEAF_BYTES);

/// Encodes a count or an offset in a node, which must be below [`MAX_LEAF_BYTES`].
pub(crate) const fn within_node(number: usize) -> u16 {
    debug_assert!(number < MAX_LEAF_BYTES, "no node is so large");
    number as u16
}

/// Checks the key `bytes`, which is at the offset `at`; the offset of its length is `length_at`.
pub(super) fn check_key<'k>(
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

/// Returns the index in `from..to` of the entry for which `compare` is `Equal`, or `Err` with the place
/// where it would be.
pub(super) fn binary_search(
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
