//! Makes segments of internal nodes that came from a remote.

use crate::cache::Cache;
use crate::error::{DecodeError, Field};
use crate::hash::Hash;
use crate::le::u16_at;
use crate::node::{Inner, Node};
use crate::segment::Sealed;
use alloc::vec::Vec;

/// The most nodes of a segment: its table has about a hundred hashes for each.
const MOST_NODES: usize = 64;

/// Reads records of internal nodes, `length:u16 | node | length of each child:u16`, and makes segments of those that are not
/// here. Their tables name the children that are not here, either, as chunks at the remote. Nobody vouches for the records:
/// a node is stored under the hash of its bytes, and a length that is wrong makes one child unreadable.
///
/// With `again`, of all nodes, whether they are here or not: for a repair. Their tables then name all children that are
/// not here.
///
/// # Errors
/// The first fault, with its offset.
pub fn land_nodes(
    cache: &Cache,
    records: &[u8],
    again: bool,
) -> Result<Vec<Sealed>, DecodeError> {
    let mut nodes: Vec<(Hash, &[u8])> = Vec::new();
    let mut children = Vec::new();
    let mut at = 0;
    while at < records.len() {
        let (node, lens, end) = record(records, at)?;
        let bytes = &records[at + 2..at + 2 + lens.0];
        let hash = Hash::of(bytes);
        let is_twice = nodes.iter().any(|(other, _)| *other == hash);
        if !is_twice && (again || !is_here(cache, &hash)) {
            nodes.push((hash, bytes));
            children.push((node, &records[lens.1..end]));
        }
        at = end;
    }
    let mut made = Vec::new();
    for (some, theirs) in nodes.chunks(MOST_NODES).zip(children.chunks(MOST_NODES)) {
        let mut remote: Vec<(Hash, u16)> = Vec::new();
        for (node, lens) in theirs {
            for index in 0..node.len() {
                let hash = node.hash(index);
                let is_known = if again { is_here(cache, &hash) } else { cache.copies(&hash).next().is_some() }
                    || nodes.iter().any(|(other, _)| *other == hash);
                if !is_known {
                    remote.push((hash, u16_at(lens, 2 * index)));
                }
            }
        }
        made.extend(Sealed::of_nodes(some, &remote));
    }
    Ok(made)
}

/// The node of the record at `at`, its length and where the lengths of its children begin, and where the record ends.
fn record(
    records: &[u8],
    at: usize,
) -> Result<(Inner<'_>, (usize, usize), usize), DecodeError> {
    let got = records.len() as u64;
    let short = |end: usize| DecodeError::new(Field::Length, at, end as u64, got);
    if records.len() < at + 2 {
        return Err(short(at + 2));
    }
    let len = usize::from(u16_at(records, at));
    let lens = at + 2 + len;
    let bytes = records.get(at + 2..lens).ok_or_else(|| short(lens))?;
    let Node::Inner(node) = Node::decode(bytes)? else {
        return Err(DecodeError::new(Field::Kind, at + 2, 1, 0));
    };
    let end = lens + 2 * node.len();
    let theirs = records.get(lens..end).ok_or_else(|| short(end))?;
    // A chunk of no bytes has no place in a table.
    if (0..node.len()).any(|index| u16_at(theirs, 2 * index) == 0) {
        return Err(DecodeError::new(Field::Length, lens, 1, 0));
    }
    Ok((node, (len, lens), end))
}

fn is_here(cache: &Cache, hash: &Hash) -> bool {
    let is_real = |(id, chunk, _)| cache.table(id).is_some_and(|table| !table.is_remote(chunk));
    cache.copies(hash).any(is_real)
}
