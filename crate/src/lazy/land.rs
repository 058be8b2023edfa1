//! Makes segments of internal nodes that came from a remote.

use crate::cache::Cache;
use crate::error::{DecodeError, Field};
use crate::hash::Hash;
use crate::le::u16_at;
use crate::node::{Inner, Node};
use crate::segment::Sealed;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The most nodes of a segment: its table has about a hundred hashes for each.
const MOST_NODES: usize = 64;

/// The nodes to take from records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nodes that are known to be at the remote but are not here.
    Known,
    /// The top of a tree, with this hash, and the nodes below it; each comes after the node that names it.
    Below(Hash),
    /// All nodes, even if they are here: for a repair. Their tables then name all children that are not here.
    Again,
}

/// Reads records of internal nodes, `length:u16 | node | length of each child:u16`, and makes segments of the `taken`
/// ones. Their tables name the children that are not here, as chunks at the remote.
///
/// A node is stored under the hash of its bytes. A node that no known node names is not taken: it could say false
/// things of its children, such as their last keys. A wrong length makes one child unreadable.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::cache::Cache;
/// use hedgerow::lazy::{NewNodes, Taken, land_nodes};
/// use hedgerow::tree::Tree;
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let mut remote = Host::of(Shape::STORED, &(0..1000).map(issue).collect());
/// let top = remote.tree().root;
/// let mut walk = NewNodes::new(Tree::EMPTY, remote.tree());
/// remote.run(|cache, budget| walk.step(cache, budget))?;
///
/// let mut cache = Cache::default();
/// // The level of a node comes before its record.
/// let made = land_nodes(&cache, &walk.take()[1..], Taken::Below(top))?;
/// for (id, segment) in (1..).zip(made) {
///     cache.add_fresh(id, segment);
/// }
/// let first_key = b"issue/00000000";
/// let read = hedgerow::tree::get(&cache, remote.tree(), first_key)?;
/// assert!(matches!(read, hedgerow::cache::Fetch::At(want) if want.is_remote()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first fault, with its offset.
pub fn land_nodes(cache: &Cache, records: &[u8], taken: Taken) -> Result<Vec<Sealed>, DecodeError> {
    let again = taken == Taken::Again;
    let mut named = BTreeSet::new();
    if let Taken::Below(top) = taken {
        named.insert(top.0);
    }
    let mut nodes: Vec<(Hash, &[u8])> = Vec::new();
    let mut children = Vec::new();
    let mut made = BTreeSet::new();
    let mut at = 0;
    while at < records.len() {
        let (node, (len, lens), end) = record(records, at)?;
        let bytes = &records[at + 2..at + 2 + len];
        let hash = Hash::of(bytes);
        let is_known = again || named.contains(&hash.0) || cache.copies(&hash).next().is_some();
        if is_known && matches!(taken, Taken::Below(_)) {
            named.extend((0..node.len()).map(|index| node.hash(index).0));
        }
        if is_known && (again || !is_here(cache, &hash)) && made.insert(hash.0) {
            nodes.push((hash, bytes));
            children.push((node, &records[lens..end]));
        }
        at = end;
    }
    let mut sealed = Vec::new();
    for (some, theirs) in nodes.chunks(MOST_NODES).zip(children.chunks(MOST_NODES)) {
        let mut remote: Vec<(Hash, u16)> = Vec::new();
        for (node, lens) in theirs {
            for index in 0..node.len() {
                let hash = node.hash(index);
                let is_known = made.contains(&hash.0)
                    || if again {
                        is_here(cache, &hash)
                    } else {
                        cache.copies(&hash).next().is_some()
                    };
                if !is_known {
                    remote.push((hash, u16_at(lens, 2 * index)));
                }
            }
        }
        sealed.extend(Sealed::of_nodes(some, &remote));
    }
    Ok(sealed)
}

/// Reads the record at `at`; returns its node, the node's length, where its children's lengths begin, and where it
/// ends.
fn record(records: &[u8], at: usize) -> Result<(Inner<'_>, (usize, usize), usize), DecodeError> {
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
    // An empty chunk has no place in a table.
    if (0..node.len()).any(|index| u16_at(theirs, 2 * index) == 0) {
        return Err(DecodeError::new(Field::Length, lens, 1, 0));
    }
    Ok((node, (len, lens), end))
}

fn is_here(cache: &Cache, hash: &Hash) -> bool {
    let is_real = |(id, chunk, _)| cache.table(id).is_some_and(|table| !table.is_remote(chunk));
    cache.copies(hash).any(is_real)
}
