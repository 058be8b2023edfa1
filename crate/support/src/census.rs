//! The figures of a census, and the same by a walk that reads every node.

use crate::host::Host;
use hedgerow::hash::Hash;
use hedgerow::node::Node;
use hedgerow::tree::{Census, LEVEL_WORDS, Tree};
use std::collections::BTreeMap;

/// A level: its nodes, their bytes unpacked, the same as they are stored, and the unpacked bytes of the smallest and
/// the largest.
pub type Level = [u64; LEVEL_WORDS];

/// Returns the levels counted so far.
#[must_use]
#[allow(clippy::cast_sign_loss, reason = "they are counts")]
pub fn levels(census: &Census) -> Vec<Level> {
    let (levels, rest) = census.levels().as_chunks::<LEVEL_WORDS>();
    assert!(rest.is_empty(), "a part of a level");
    levels.iter().map(|level| level.map(|word| word as u64)).collect()
}

/// Sums up the stored bytes of a tree's levels.
#[must_use]
pub fn stored_bytes(levels: &[Level]) -> u64 {
    levels.iter().map(|level| level[2]).sum()
}

/// Returns the levels of a tree as a census counts them.
pub fn counted(host: &mut Host, tree: Tree) -> Vec<Level> {
    let mut census = Census::new(tree);
    host.run(|cache, budget| census.step(cache, budget)).expect("a census");
    levels(&census)
}

/// Counts the levels of a tree whose nodes are all stored. Of several copies the one in the newest segment counts.
#[must_use]
pub fn walked(host: &Host, tree: Tree) -> Vec<Level> {
    let mut chunks = BTreeMap::new();
    for (bytes, table) in host.stored.values() {
        chunks.extend((0..table.len()).map(|at| (table.hash(at).0, (bytes, table, at))));
    }
    let mut levels = Vec::new();
    let mut hashes = if tree.is_empty() { Vec::new() } else { vec![tree.root] };
    while !hashes.is_empty() {
        let mut level = [hashes.len() as u64, 0, 0, u64::MAX, 0];
        let mut below: Vec<Hash> = Vec::new();
        for hash in &hashes {
            let (bytes, table, at) = chunks[&hash.0];
            let chunk = table.chunk(bytes, at);
            let len = chunk.len() as u64;
            level[1] += len;
            level[2] += table.range(at).len() as u64;
            level[3] = level[3].min(len);
            level[4] = level[4].max(len);
            if let Node::Inner(inner) = Node::decode(&chunk).expect("a node") {
                below.extend((0..inner.len()).map(|at| inner.hash(at)));
            }
        }
        levels.push(level);
        hashes = below;
    }
    levels
}
