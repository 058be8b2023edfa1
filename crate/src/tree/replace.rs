//! The fast path for one edit: splices the leaf, then rewrites the path above it.
//!
//! It applies when the leaf provably keeps its shape. Nothing after an entry decides
//! whether it ends a node, so only entries from the edited one on can change their minds.
//! With the leaf below [`Shape::soft`] before and after, each of them asks its own hash
//! and whether it is among the first [`MIN_ENTRIES`], and nothing else: two hashes tell. In
//! a larger leaf all of them are asked. Separators stay what they are, except at the end
//! of the tree, where the last node of each level may end with any entry.
//!
//! Source: the fast path of Doltlite, generalised to edits that change sizes and counts.

use crate::batch::{Batch, Edit};
use crate::boundary::{MIN_ENTRIES, Shape, Splitter, key_hash};
use crate::cache::{Cache, Fetch};
use crate::error::Error;
use crate::node::{
    Entry, Inner, LEAF_ENTRY_BYTES, Leaf, NODE_HEADER_BYTES, Node, inner_with, leaf_with,
};
use crate::segment::{Packer, Stream};
use crate::step::Step;
use crate::tree::Tree;
use crate::tree::value::put_value;
use crate::value::{FAR_BYTES, Tag};
use alloc::vec::Vec;

/// Where an edit falls in its leaf.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: usize,
    present: bool,
    /// The leaf is the last of the tree.
    rightmost: bool,
}

/// See the module's text.
#[derive(Debug)]
pub struct Replace {
    tree: Tree,
    shape: Shape,
    packer: Packer,
}

impl Replace {
    /// A replacement in `tree`, whose nodes have `shape`.
    #[must_use]
    pub fn new(tree: Tree, shape: Shape) -> Self {
        Self { tree, shape, packer: Packer::new() }
    }

    /// The chunks made.
    pub const fn packer(&mut self) -> &mut Packer {
        &mut self.packer
    }

    /// Applies the only edit of `edits`; `None`, with nothing made, when that would change
    /// the shape of the leaf, and a merge is called for. Costs a descent, and the bytes of
    /// one node for each level.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, edits: &Batch) -> Result<Step<Option<Tree>>, Error> {
        let key = edits.key(0);
        if self.tree.is_empty() {
            return Ok(Step::Done(None));
        }
        let mut path: Vec<(Inner<'_>, usize)> = Vec::new();
        let mut rightmost = true;
        let mut fetched = cache.node(&self.tree.root)?;
        let leaf = loop {
            match fetched {
                Fetch::At(id) => return Ok(Step::Need(Vec::from([id]))),
                Fetch::Here(Node::Leaf(leaf)) => break leaf,
                Fetch::Here(Node::Inner(inner)) => {
                    // A key beyond the last goes to the end of the last leaf.
                    let index = inner.route(0, key).min(inner.len() - 1);
                    rightmost &= index + 1 == inner.len();
                    path.push((inner, index));
                    fetched = cache.child(&inner, index)?;
                }
            }
        };
        let (index, present) = match leaf.search(0, key) {
            Ok(index) => (index, true),
            Err(index) => (index, false),
        };
        let place = Place { index, present, rightmost };
        let (tag, value) = match edits.edit(0) {
            Edit::Delete if !present => return Ok(Step::Done(Some(self.tree))),
            Edit::Delete => (None, &[][..]),
            Edit::Put(kind, value) => {
                let tag = Tag::of(kind, value.len());
                let same = Entry { key, tag, value };
                if present && leaf.entry(index) == same {
                    return Ok(Step::Done(Some(self.tree)));
                }
                (Some(tag), value)
            }
        };
        let stored = if tag.is_some_and(|tag| tag.far) { FAR_BYTES } else { value.len() };
        let size = tag.map(|_| LEAF_ENTRY_BYTES + key.len() + stored);
        if !self.fits(&leaf, place, key, size) {
            return Ok(Step::Done(None));
        }
        let far;
        let entry = match tag {
            Some(tag) if tag.far => {
                far = put_value(&mut self.packer, value).bytes();
                Some(Entry { key, tag, value: &far })
            }
            Some(tag) => Some(Entry { key, tag, value }),
            None => None,
        };
        Ok(Step::Done(Some(self.rewrite(&leaf, place, entry.as_ref(), &path))))
    }

    fn natural(&self, key: &[u8], size: usize) -> bool {
        key_hash(0, key) < self.shape.threshold(size)
    }

    /// As [`Replace::fits`], for a leaf in which an entry's place decides, too: asks every
    /// entry of the new leaf. Costs a hash for each.
    fn still_fits(&self, leaf: &Leaf<'_>, place: Place, key: &[u8], size: Option<usize>) -> bool {
        let Place { index, present, rightmost } = place;
        let old = |at: usize| (leaf.key(at), leaf.records(at, at + 1).len() + 2);
        let after = index + usize::from(present);
        let edited = size.map(|size| (key, size));
        let entries = (0..index).map(old).chain(edited).chain((after..leaf.len()).map(old));
        let count = leaf.len() + usize::from(edited.is_some()) - usize::from(present);
        let mut splitter = Splitter::new(self.shape, 0);
        let mut node = NODE_HEADER_BYTES;
        let mut ended = false;
        for (at, (key, size)) in entries.enumerate() {
            node += size;
            ended = splitter.ends(key, size, at + 1, node);
            if ended && at + 1 < count {
                return false;
            }
        }
        count > 0 && (ended || rightmost)
    }

    /// Whether the leaf keeps its shape when the entry at `place` becomes one of `size`
    /// bytes, or goes (`None`). Costs at most two hashes of keys in a leaf of usual size.
    fn fits(&self, leaf: &Leaf<'_>, place: Place, key: &[u8], size: Option<usize>) -> bool {
        let Place { index, present, rightmost } = place;
        let count = leaf.len();
        let entry_len = |at: usize| leaf.records(at, at + 1).len() + 2;
        let before = NODE_HEADER_BYTES + leaf.records(0, count).len() + 2 * count;
        let old = if present { entry_len(index) } else { 0 };
        let after = before - old + size.unwrap_or(0);
        let soft = self.shape.soft as usize;
        if before >= soft || after >= soft {
            return self.still_fits(leaf, place, key, size);
        }
        let natural_at = |at: usize| self.natural(leaf.key(at), entry_len(at));
        match (size, present) {
            // The last of the tree may be anything; the last of another leaf must end it.
            (Some(size), true) if index + 1 == count => {
                rightmost || (count >= MIN_ENTRIES && self.natural(key, size))
            }
            (Some(size), true) => index + 1 < MIN_ENTRIES || !self.natural(key, size),
            // A new last entry: what was the last must not end the leaf.
            (Some(_), false) if index == count => count < MIN_ENTRIES || !natural_at(count - 1),
            // Those before the new one keep their places; the last of the first
            // MIN_ENTRIES - 1 moves on to where it may end the leaf.
            (Some(size), false) => {
                let moved = MIN_ENTRIES - 2;
                (index + 1 < MIN_ENTRIES || !self.natural(key, size))
                    && (index > moved || moved + 1 == count || !natural_at(moved))
            }
            (None, _) if rightmost => count > 1,
            (None, _) => index + 1 < count && count > MIN_ENTRIES,
        }
    }

    /// Makes the new leaf and the nodes of its path.
    fn rewrite(
        &mut self,
        leaf: &Leaf<'_>,
        place: Place,
        entry: Option<&Entry<'_>>,
        path: &[(Inner<'_>, usize)],
    ) -> Tree {
        let Place { index, present, .. } = place;
        let to = index + usize::from(present);
        let mut hash = self.packer.put(Stream::Leaf, |out| leaf_with(leaf, index..to, entry, out));
        let count = leaf.len() - usize::from(present) + usize::from(entry.is_some());
        let grown = i64::from(entry.is_some()) - i64::from(present);
        // The key that ends the leaf, where it changes: only at the end of the tree.
        let last = match entry {
            Some(entry) if index == leaf.len() => Some(entry.key),
            None if to == leaf.len() => Some(leaf.key(count - 1)),
            _ => None,
        };
        for (parent, index) in path.iter().rev() {
            hash = self.packer.put(Stream::Inner, |out| {
                inner_with(parent, *index, &hash, grown, last, out);
            });
        }
        Tree { root: hash, count: self.tree.count.wrapping_add_signed(grown) }
    }
}
