//! Makes nodes of rows that came from a remote.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::delta::{Decoder, Next};
use crate::error::{DecodeError, Field};
use crate::hash::Hash;
use crate::segment::{Packer, Sealed, Stream};
use crate::step::Budget;
use crate::tree::Builder;
use alloc::vec::Vec;

/// A node as its parent describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeAt<'a> {
    /// Its address.
    pub hash: Hash,
    /// The last key in it.
    pub last_key: &'a [u8],
    /// The number of entries in it.
    pub count: u64,
}

/// Makes leaves, and other nodes, of the rows of a range of keys. Add the deltas that lead to these rows, oldest first,
/// then [`Leaves::sort`], then ask for nodes whose rows are all among them.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::cache::Fetch;
/// use hedgerow::delta::Encoder;
/// use hedgerow::key::Key;
/// use hedgerow::lazy::{Leaves, NodeAt};
/// use hedgerow::node::Node;
/// use hedgerow::value::Kind;
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let remote = Host::of(Shape::STORED, &(0..1000).map(issue).collect());
/// let Fetch::Here(Node::Inner(top)) = remote.cache.node(&remote.tree().root)? else {
///     panic!("the top is in memory");
/// };
/// let leaf = top.child(0);
/// let mut encoder = Encoder::new();
/// for (key, value) in (0..leaf.count as usize).map(issue) {
///     encoder.put(Key::trusted(key.as_bytes()), Kind::Json, value.len());
///     encoder.out().extend_from_slice(value.as_bytes());
/// }
/// encoder.end();
///
/// let mut leaves = Leaves::new();
/// leaves.add(encoder.out())?;
/// leaves.sort();
/// let (hash, last_key, count) = (leaf.hash, leaf.key.bytes(), leaf.count);
/// assert!(leaves.make(&NodeAt { hash, last_key, count }));
/// assert_eq!(leaves.take()[0].table.hash(0), hash);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Leaves {
    rows: Batch,
    packer: Packer,
}

impl Leaves {
    /// Begins without edits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the edits of a delta. Costs its length.
    ///
    /// # Errors
    /// The first fault, with its offset; do not use this any more then.
    pub fn add(&mut self, delta: &[u8]) -> Result<(), DecodeError> {
        let mut decoder = Decoder::new();
        decoder.room(delta.len()).copy_from_slice(delta);
        decoder.end();
        loop {
            match decoder.read()? {
                Next::Edit(key, edit) => self.rows.push(key, edit),
                Next::End => break,
                Next::More => {
                    let got = delta.len() as u64;
                    return Err(DecodeError::new(Field::Length, delta.len(), got + 1, got));
                }
            }
        }
        self.rows.close_run();
        Ok(())
    }

    /// Sorts the edits. Costs a pass over them for each doubling of the deltas.
    pub fn sort(&mut self) {
        self.rows.close_run();
        self.rows.sort(&mut Budget::of(usize::MAX));
    }

    /// Makes a node, all nodes below it, and the values out of line, from the last `count` rows up to its last key.
    /// Returns `false` and makes no chunk if rows are missing, or make another node.
    pub fn make(&mut self, node: &NodeAt<'_>) -> bool {
        let Some(end) = self.end_of(node.last_key) else { return false };
        let Ok(count) = usize::try_from(node.count) else { return false };
        let is_put = |at: &usize| matches!(self.rows.edit(*at), Edit::Put(_));
        let rows: Vec<usize> = (0..end).rev().filter(is_put).take(count).collect();
        if rows.len() != count || rows.first() != Some(&(end - 1)) {
            return false;
        }
        let mut builder = self.built(rows.into_iter().rev());
        // The last leaf of a tree may end without a boundary.
        let is_it = builder.finish().tree.root == node.hash;
        if is_it {
            self.keep(builder, |_| true);
        }
        is_it
    }

    /// Makes the parts of the value out of line of `key`, if one of them has this hash; returns whether one has.
    pub fn make_value(&mut self, key: &[u8], hash: &Hash) -> bool {
        let Some(end) = self.end_of(key) else { return false };
        let mut builder = self.built(core::iter::once(end - 1));
        builder.finish();
        let mut is_found = false;
        self.keep(builder, |sealed| {
            let is_value = sealed.table.only_values();
            is_found |=
                is_value && (0..sealed.table.len()).any(|at| sealed.table.hash(at) == *hash);
            is_value
        });
        is_found
    }

    /// Makes a builder that has these rows.
    fn built(&self, rows: impl Iterator<Item = usize>) -> Builder {
        let mut builder = Builder::new(Shape::STORED);
        for at in rows {
            if let Edit::Put(value) = self.rows.edit(at) {
                builder.push(self.rows.key(at), value);
            }
        }
        builder
    }

    /// Keeps the chunks of a builder that are in `wanted` segments.
    fn keep(&mut self, builder: Builder, mut wanted: impl FnMut(&Sealed) -> bool) {
        let mut packer = builder.into_packer();
        packer.seal_apart();
        for sealed in packer.take_sealed() {
            if !wanted(&sealed) {
                continue;
            }
            let Sealed { bytes, table } = sealed;
            let stream = match (table.only_values(), table.only_inner()) {
                (true, _) => Stream::Value,
                (_, true) => Stream::Inner,
                _ => Stream::Leaf,
            };
            for at in 0..table.len() {
                self.packer.put_known(
                    stream,
                    table.hash(at),
                    &bytes[table.range(at)],
                    table.chunk_len(at),
                );
            }
        }
    }

    /// Returns the position after the edit of a key, if there is one.
    fn end_of(&self, key: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.rows.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.rows.key(middle).bytes() <= key {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from > 0 && self.rows.key(from - 1).bytes() == key).then_some(from)
    }

    /// Takes the segments made.
    pub fn take(&mut self) -> Vec<Sealed> {
        self.packer.seal();
        self.packer.take_sealed()
    }
}
