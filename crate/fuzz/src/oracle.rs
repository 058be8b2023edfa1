//! Reads a tree without any of the operations under test: by the bytes of its chunks alone.

use hedgerow::chunk::{piece, piece_list, pieces_of};
use hedgerow::hash::Hash;
use hedgerow::json::skip_value;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::node::{Entry, Node};
use hedgerow::tree::Tree;
use hedgerow::value::Kind;
use hedgerow_support::output::Value;
use hedgerow_support::values::Values;
use std::collections::HashMap;

/// Chunks by their hashes.
#[derive(Clone, Debug, Default)]
pub struct Chunks(HashMap<Hash, Vec<u8>>);

impl Chunks {
    /// Copies `chunks`.
    pub fn new<'c>(chunks: impl Iterator<Item = (Hash, &'c [u8])>) -> Self {
        Self(chunks.map(|(hash, bytes)| (hash, bytes.to_vec())).collect())
    }

    /// Counts the entries of all leaves.
    pub fn entries(&self) -> usize {
        let len = |chunk: &Vec<u8>| match Node::decode(chunk) {
            Ok(Node::Leaf(leaf)) => leaf.len(),
            _ => 0,
        };
        self.0.values().map(len).sum()
    }

    /// Returns whether an output of any entries can be split into its members again.
    pub fn values_are_json(&self) -> bool {
        let is_json = |value: &[u8]| {
            skip_value(value, 0) == Ok(value.len()) && core::str::from_utf8(value).is_ok()
        };
        self.0.values().all(|chunk| match Node::decode(chunk) {
            Ok(Node::Leaf(leaf)) => (0..leaf.len()).all(|at| match self.value(&leaf.entry(at)) {
                Some((Kind::Json, value)) => is_json(&value),
                _ => true,
            }),
            _ => true,
        })
    }

    /// Returns the rows of `tree`; `None` if any part of it is missing or wrong.
    pub fn rows(&self, tree: Tree) -> Option<Values> {
        let mut rows = Values::new();
        if tree.is_empty() {
            return Some(rows);
        }
        let Ok(top) = Node::decode(self.0.get(&tree.root)?) else { return None };
        self.visit(&top, &mut rows)?;
        (rows.len() as u64 == tree.count).then_some(rows)
    }

    fn visit(&self, node: &Node<'_>, rows: &mut Values) -> Option<()> {
        match node {
            Node::Leaf(leaf) => {
                for entry in (0..leaf.len()).map(|at| leaf.entry(at)) {
                    let key = core::str::from_utf8(&entry.key).ok()?;
                    if rows.last_key_value().is_some_and(|(last, _)| &**last >= key) {
                        return None;
                    }
                    rows.insert(key.to_owned(), self.value(&entry)?);
                }
            }
            Node::Inner(inner) => {
                for child in (0..inner.len()).map(|at| inner.child(at)) {
                    let node = Node::decode(self.0.get(&child.hash)?).ok()?;
                    let before = rows.len() as u64;
                    if node.level() + 1 != inner.level() || node.last_key() != child.key.bytes() {
                        return None;
                    }
                    self.visit(&node, rows)?;
                    if rows.len() as u64 - before != child.count {
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    fn value(&self, entry: &Entry<'_>) -> Option<Value> {
        let kind = entry.tag.kind;
        let Some(far) = entry.value_ref() else { return Some((kind, entry.value.to_vec())) };
        let len = far.len as usize;
        let top = self.0.get(&far.hash)?;
        let pieces = match pieces_of(len) {
            1 => vec![far.hash],
            _ => piece_list(top, len).ok()?,
        };
        let mut value = Vec::new();
        for (at, hash) in pieces.iter().enumerate() {
            let part = piece(self.0.get(hash)?).ok()?;
            if part.len() != (len - at * PIECE_BYTES).min(PIECE_BYTES) {
                return None;
            }
            value.extend_from_slice(part);
        }
        Some((kind, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::boundary::Shape;
    use hedgerow_support::host::Host;
    use hedgerow_support::layout::{inner, leaf};
    use hedgerow_support::values::values;

    #[test]
    fn it_reads_what_was_put() {
        let mut host = Host::new(Shape::with_target(64));
        host.put_values(&values());
        let stored: Vec<_> = host.chunks().collect();
        let chunks = Chunks::new(stored.iter().map(|(_, hash, bytes)| (*hash, &bytes[..])));
        assert_eq!(chunks.rows(host.tree()), Some(values()));
        assert_eq!(chunks.rows(Tree { count: 3, ..host.tree() }), None);
        assert!(chunks.values_are_json());
        assert_eq!(chunks.entries(), values().len());
        for lost in chunks.0.keys().filter(|hash| **hash != host.root) {
            let mut fewer = chunks.clone();
            fewer.0.remove(lost);
            assert_eq!(fewer.rows(host.tree()), None);
        }
    }

    #[test]
    fn it_refuses_keys_that_do_not_ascend() {
        let leaves =
            [leaf(&[(0, b"a", b"1"), (0, b"c", b"2")]), leaf(&[(0, b"b", b""), (0, b"d", b"")])];
        let of = |at: usize| Hash::of(&leaves[at]);
        let top = inner(1, &[(b"c", 2, of(0)), (b"d", 4, of(1))]);
        let all = [&leaves[0], &leaves[1], &top];
        let chunks = Chunks::new(all.map(|bytes| (Hash::of(bytes), &bytes[..])).into_iter());
        assert_eq!(chunks.rows(Tree { root: Hash::of(&top), count: 4 }), None);
        assert_eq!(chunks.rows(Tree { root: of(1), count: 2 }).map(|rows| rows.len()), Some(2));
        assert!(!chunks.values_are_json());
    }
}
