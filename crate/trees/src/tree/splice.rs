//! Copies a node with one entry or one child changed.

use crate::chunk::ChunkKind;
use crate::hash::{HASH_BYTES, Hash};
use crate::key::Key;
use crate::node::{
    Entry, Inner, LEAF_ENTRY_BYTES, Leaf, MAX_INNER_BYTES, NODE_HEADER_BYTES, RECORD_BYTES,
    record_head, within_node,
};
use alloc::vec::Vec;
use core::ops::Range;

/// Appends a copy of `leaf` in which `entry`, if any, replaces the entries `replaced`: one entry, or
/// an empty range for an insertion.
pub(super) fn leaf_with(
    leaf: &Leaf<'_>,
    replaced: Range<usize>,
    entry: Option<&Entry<'_>>,
    out: &mut Vec<u8>,
) {
    let count = leaf.len() - replaced.len() + usize::from(entry.is_some());
    // At once: growing step by step would copy all bytes ten times.
    let added = entry.map_or(0, |entry| LEAF_ENTRY_BYTES + entry.key.len() + entry.value.len());
    out.reserve(leaf.offset(leaf.len()) + NODE_HEADER_BYTES + added);
    out.extend_from_slice(&ChunkKind::Node(0).header());
    out.extend_from_slice(&within_node(count).to_le_bytes());
    let mut push_end = |end: usize| out.extend_from_slice(&within_node(end).to_le_bytes());
    (0..replaced.start).for_each(|index| push_end(leaf.end(index + 1)));
    let mut middle = leaf.end(replaced.start);
    if let Some(entry) = entry {
        middle += RECORD_BYTES + entry.key.len() + entry.value.len();
        push_end(middle);
    }
    let skipped = leaf.end(replaced.end);
    (replaced.end..leaf.len()).for_each(|index| push_end(middle + leaf.end(index + 1) - skipped));
    out.extend_from_slice(leaf.records(0, replaced.start));
    if let Some(entry) = entry {
        out.extend_from_slice(&record_head(entry.key, entry.tag));
        out.extend_from_slice(&entry.key);
        out.extend_from_slice(entry.value);
    }
    out.extend_from_slice(leaf.records(replaced.end, leaf.len()));
}

/// Appends a copy of `inner` in which the child at `index` has `hash`, `grown` more entries and, if
/// given, the last key `last`, which is allowed for the last child only.
pub(super) fn inner_with(
    inner: &Inner<'_>,
    index: usize,
    hash: &Hash,
    grown: i64,
    last: Option<Key<'_>>,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.reserve(inner.bytes().len() + last.map_or(0, |key| key.len()));
    let kept = inner.keys_start() + inner.key_end(if last.is_some() { index } else { inner.len() });
    out.extend_from_slice(&inner.bytes()[..kept]);
    if let Some(key) = last {
        out.extend_from_slice(&key);
        let end = within_node(inner.key_end(index) + key.len()).to_le_bytes();
        let at = start + NODE_HEADER_BYTES + 2 * index;
        out[at..at + 2].copy_from_slice(&end);
    }
    let at = start + inner.hashes_start() + HASH_BYTES * index;
    out[at..at + HASH_BYTES].copy_from_slice(&hash.0);
    for later in index..inner.len() {
        let at = start + inner.counts_start() + 8 * later;
        let count = inner.count_before(later + 1).wrapping_add_signed(grown);
        out[at..at + 8].copy_from_slice(&count.to_le_bytes());
    }
}

/// Returns whether `inner` is not too large if `key` replaces its last key.
pub(super) fn may_end_with(inner: &Inner<'_>, key: Key<'_>) -> bool {
    inner.bytes().len() - inner.key(inner.len() - 1).len() + key.len() <= MAX_INNER_BYTES
}
