//! Writes chunks byte by byte, as `docs/format.md` describes them: an encoder that is independent
//! of the core's.

use hedgerow::hash::Hash;
use hedgerow::node::{Child, Entry, Node};
use hedgerow::value::Kind;

/// The version of the format.
pub const VERSION: u8 = 1;
/// The tag bit for a value that is stored out of line.
pub const FAR: u16 = 1 << 15;
/// The tag bit for a byte value.
pub const BYTES: u16 = 1 << 14;

/// Encodes a leaf of records: the tag bits, the key and the value of each.
pub fn leaf(records: &[(u16, &[u8], &[u8])]) -> Vec<u8> {
    let (mut ends, mut body) = (Vec::new(), Vec::new());
    for (tag, key, value) in records {
        body.extend_from_slice(&(tag | key.len() as u16).to_le_bytes());
        body.extend_from_slice(key);
        body.extend_from_slice(value);
        ends.extend_from_slice(&(body.len() as u16).to_le_bytes());
    }
    let count = (records.len() as u16).to_le_bytes();
    [&[0, VERSION][..], &count, &ends, &body].concat()
}

/// Encodes a leaf of `entries`.
pub fn leaf_of(entries: &[Entry<'_>]) -> Vec<u8> {
    let tag = |entry: &Entry<'_>| {
        let kind = if entry.tag.kind == Kind::Bytes { BYTES } else { 0 };
        let far = if entry.tag.is_ref { FAR } else { 0 };
        kind | far
    };
    let records = entries.iter().map(|entry| (tag(entry), entry.key.bytes(), entry.value));
    leaf(&records.collect::<Vec<_>>())
}

/// Encodes an internal node of children: the last key, the cumulative count and the hash of each.
pub fn inner(level: u8, children: &[(&[u8], u64, Hash)]) -> Vec<u8> {
    let (mut ends, mut counts, mut hashes, mut keys) = (vec![], vec![], vec![], vec![]);
    for (key, count, hash) in children {
        keys.extend_from_slice(key);
        ends.extend_from_slice(&(keys.len() as u16).to_le_bytes());
        counts.extend_from_slice(&count.to_le_bytes());
        hashes.extend_from_slice(&hash.0);
    }
    let count = (children.len() as u16).to_le_bytes();
    [&[level, VERSION][..], &count, &ends, &counts, &hashes, &keys].concat()
}

/// Encodes an internal node over `children`.
pub fn inner_of(level: u8, children: &[Child<'_>]) -> Vec<u8> {
    let mut total = 0_u64;
    let sums = children.iter().map(|child| {
        total = total.wrapping_add(child.count);
        (child.key.bytes(), total, child.hash)
    });
    inner(level, &sums.collect::<Vec<_>>())
}

/// Encodes `node`.
pub fn node(node: &Node<'_>) -> Vec<u8> {
    match node {
        Node::Leaf(leaf) => leaf_of(&(0..leaf.len()).map(|at| leaf.entry(at)).collect::<Vec<_>>()),
        Node::Inner(inner) => {
            let children: Vec<_> = (0..inner.len()).map(|at| inner.child(at)).collect();
            inner_of(inner.level(), &children)
        }
    }
}

/// Encodes a value ref, which a leaf has for a value of `len` bytes that is stored out of line.
pub fn far(len: u32, hash: &Hash) -> Vec<u8> {
    [&len.to_le_bytes()[..], &hash.0].concat()
}

/// Encodes a piece of a value.
pub fn piece(bytes: &[u8]) -> Vec<u8> {
    [&[0xe0, VERSION], bytes].concat()
}

/// Encodes the list of a value's pieces.
pub fn piece_list(pieces: &[Hash]) -> Vec<u8> {
    let hashes: Vec<u8> = pieces.iter().flat_map(|hash| hash.0).collect();
    [&[0xe1, VERSION][..], &hashes].concat()
}

/// Encodes a commit of trees: the name, the count and the root of each.
pub fn commit(trees: &[(&[u8], u64, Hash)]) -> Vec<u8> {
    let mut bytes = vec![0xc0, VERSION];
    bytes.extend_from_slice(&(trees.len() as u16).to_le_bytes());
    for (name, count, root) in trees {
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&root.0);
    }
    bytes
}

/// Encodes a table of unpacked chunks that end at `ends`, all with the same hash.
pub fn table(ends: &[u32]) -> Vec<u8> {
    let mut bytes = b"HDGT\x01\0\0\0".to_vec();
    bytes.extend_from_slice(&(ends.len() as u32).to_le_bytes());
    bytes.resize(bytes.len() + 32 * ends.len(), 9);
    bytes.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    let mut start = 0;
    for end in ends {
        bytes.extend_from_slice(&end.wrapping_sub(start).to_le_bytes());
        start = *end;
    }
    bytes
}

/// Encodes a leaf to damage: records at 10..14 (`a`), 14..20 (`bb`) and 20..59 (`c`, a value ref), after
/// offsets at 4, 6 and 8.
pub fn good_leaf() -> Vec<u8> {
    leaf(&[(0, b"a", b"1"), (BYTES, b"bb", b"22"), (FAR, b"c", &far(5000, &Hash([7; 32])))])
}

/// Encodes an internal node to damage: offsets at 4 and 6, counts at 8 and 16, hashes at 24 and 56, keys at 88 and 89.
pub fn good_inner() -> Vec<u8> {
    inner(1, &[(b"b", 3, Hash([1; 32])), (b"dd", 5, Hash([2; 32]))])
}

/// Encodes a commit to damage: trees at 4..46 (`r`) and 46..90 (`two`).
pub fn good_commit() -> Vec<u8> {
    commit(&[(b"r", 3, Hash([1; 32])), (b"two", 2, Hash([2; 32]))])
}

/// Returns `bytes` with other bytes at `at`.
pub fn with(bytes: &[u8], at: usize, other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + other.len()].copy_from_slice(other);
    bytes
}

/// Returns `bytes` with `more` after them.
pub fn and(bytes: &[u8], more: &[u8]) -> Vec<u8> {
    [bytes, more].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;
    use crate::rows::issue;
    use hedgerow::boundary::Shape;

    #[test]
    fn chunks_of_the_core_are_equal_to_those_written_here() {
        let host = Host::of(Shape::with_target(64), &(0..40).map(issue).collect());
        let mut nodes = 0;
        for (_, _, chunk) in host.chunks() {
            let Ok(decoded) = Node::decode(&chunk) else { continue };
            assert_eq!(node(&decoded), chunk);
            nodes += 1;
        }
        assert!(nodes > 10);
        let tree = host.tree();
        let (_, _, last) = host.chunks().find(|(_, hash, _)| *hash == host.root).expect("a commit");
        assert_eq!(commit(&[(hedgerow::forest::ROWS.as_bytes(), tree.count, tree.root)]), last);
    }
}
