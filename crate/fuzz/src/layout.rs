//! Writes nodes byte by byte, as `docs/format.md` draws them: an encoder that shares nothing
//! with the core's.

use hedgerow::node::{Child, Entry, Node};
use hedgerow::value::Kind;

/// The bytes of a leaf of `entries`.
pub fn leaf(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut ends = Vec::new();
    let mut records = Vec::new();
    for entry in entries {
        let kind = if entry.tag.kind == Kind::Bytes { 1 << 14 } else { 0 };
        let far = if entry.tag.far { 1 << 15 } else { 0 };
        records.extend_from_slice(&(entry.key.len() as u16 | kind | far).to_le_bytes());
        records.extend_from_slice(entry.key);
        records.extend_from_slice(entry.value);
        ends.extend_from_slice(&(records.len() as u16).to_le_bytes());
    }
    [&[0, 1][..], &(entries.len() as u16).to_le_bytes(), &ends, &records].concat()
}

/// The bytes of an internal node of `level` over `children`.
pub fn inner(level: u8, children: &[Child<'_>]) -> Vec<u8> {
    let (mut ends, mut counts, mut hashes, mut keys) = (vec![], vec![], vec![], vec![]);
    let mut total = 0_u64;
    for child in children {
        keys.extend_from_slice(child.key);
        ends.extend_from_slice(&(keys.len() as u16).to_le_bytes());
        total = total.wrapping_add(child.count);
        counts.extend_from_slice(&total.to_le_bytes());
        hashes.extend_from_slice(&child.hash.0);
    }
    let count = (children.len() as u16).to_le_bytes();
    [&[level, 1][..], &count, &ends, &counts, &hashes, &keys].concat()
}

/// The bytes of `node`.
pub fn node(node: &Node<'_>) -> Vec<u8> {
    match node {
        Node::Leaf(leaf_node) => {
            let entries: Vec<_> = (0..leaf_node.len()).map(|at| leaf_node.entry(at)).collect();
            leaf(&entries)
        }
        Node::Inner(inner_node) => {
            let children: Vec<_> = (0..inner_node.len()).map(|at| inner_node.child(at)).collect();
            inner(inner_node.level(), &children)
        }
    }
}
