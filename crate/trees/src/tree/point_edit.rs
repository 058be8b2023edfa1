//! The fast path for one edit: splices the leaf, then rewrites the path above it.
//!
//! It applies if the leaf provably keeps its shape. Entries after an entry do not affect whether it
//! ends a node. So an edit can change that only for the edited entry and for later ones, and for these
//! only if they move back. Last keys stay the same, except at the end of the tree, where the last node
//! of each level may end with any entry.
//!
//! Source: the fast path of Doltlite, generalised to edits that change sizes and counts.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::cache::{Cache, Fetch};
use crate::error::Error;
use crate::key::Key;
use crate::node::{Entry, Inner, LEAF_ENTRY_BYTES, Leaf, Node};
use crate::segment::{Packer, Stream};
use crate::step::Step;
use crate::tree::splice::{inner_with, leaf_with, may_end_with};
use crate::tree::value::put_value;
use crate::tree::{Tree, top};
use crate::value::{Tag, VALUE_REF_BYTES};
use alloc::vec::Vec;

/// The place of an edit in its leaf.
#[derive(Clone, Copy, Debug)]
struct Place {
    index: usize,
    present: bool,
    /// The leaf is the last of the tree.
    rightmost: bool,
}

impl Place {
    /// Returns the new last key of the leaf after a put of `key`, or a deletion (`None`), if it changes.
    /// That is allowed only at the end of the tree.
    fn last_key<'k>(&self, leaf: &Leaf<'k>, key: Option<Key<'k>>) -> Option<Key<'k>> {
        match key {
            Some(_) => key.filter(|_| self.index == leaf.len()),
            None if self.index + 1 < leaf.len() => None,
            None => self.index.checked_sub(1).map(|before| Key::trusted(leaf.key(before))),
        }
    }
}

/// The fast path for one edit: splices the leaf, then rewrites the path above it.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::batch::{Batch, Edit};
/// use hedgerow_trees::boundary::Shape;
/// use hedgerow_trees::key::Key;
/// use hedgerow_trees::step::Step;
/// use hedgerow_trees::tree::PointEdit;
/// use hedgerow_trees::value::{Kind, Value};
///
/// let (cache, [old, new]) = store([&[("ann", "41")], &[("ann", "42")]]);
/// let mut edits = Batch::new();
/// edits.push(Key::trusted(b"ann"), Edit::Put(Value::trusted(Kind::Json, b"42")));
/// edits.close_run();
/// let mut edit = PointEdit::new(old, Shape::STORED);
/// assert_eq!(edit.step(&cache, &edits), Ok(Step::Done(Some(new))));
/// ```
#[derive(Debug)]
pub struct PointEdit {
    tree: Tree,
    shape: Shape,
    packer: Packer,
}

impl PointEdit {
    /// Begins an edit of `tree`, whose nodes have `shape`.
    #[must_use]
    pub fn new(tree: Tree, shape: Shape) -> Self {
        Self { tree, shape, packer: Packer::new() }
    }

    /// Returns the chunks that were made.
    pub const fn packer(&mut self) -> &mut Packer {
        &mut self.packer
    }

    /// Applies the only edit of `edits`. Returns `None`, without new chunks, if it would change the shape of the leaf:
    /// then a merge is needed. Costs a descent, and the bytes of one node for each level.
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
        let mut fetched = top(cache, self.tree)?;
        let leaf = loop {
            match fetched {
                Fetch::At(want) => return Ok(Step::Need(Vec::from([want]))),
                Fetch::Here(Node::Leaf(leaf)) => break leaf,
                Fetch::Here(Node::Inner(inner)) => {
                    // A key beyond the last one belongs at the end of the last leaf.
                    let index = inner.route(0, &key).min(inner.len() - 1);
                    rightmost &= index + 1 == inner.len();
                    path.push((inner, index));
                    fetched = cache.child(&inner, index)?;
                }
            }
        };
        let (index, present) = match leaf.search(0, &key) {
            Ok(index) => (index, true),
            Err(index) => (index, false),
        };
        let place = Place { index, present, rightmost };
        let (tag, value) = match edits.edit(0) {
            Edit::Delete if !present => return Ok(Step::Done(Some(self.tree))),
            Edit::Delete => (None, &[][..]),
            // Updates are resolved before.
            Edit::Update(_) => return Ok(Step::Done(None)),
            Edit::Put(value) => {
                let (tag, value) = (Tag::of(value), value.bytes());
                let same = Entry { key, tag, value };
                if present && leaf.entry(index) == same {
                    return Ok(Step::Done(Some(self.tree)));
                }
                (Some(tag), value)
            }
        };
        let stored = if tag.is_some_and(|tag| tag.is_ref) { VALUE_REF_BYTES } else { value.len() };
        let size = tag.map(|_| LEAF_ENTRY_BYTES + key.len() + stored);
        let last = place.last_key(&leaf, tag.map(|_| key));
        let may_end = |last| path.iter().all(|(inner, _)| may_end_with(inner, last));
        if !last.is_none_or(may_end) || !self.fits(&leaf, place, &key, size) {
            return Ok(Step::Done(None));
        }
        let value_ref;
        let entry = match tag {
            Some(tag) if tag.is_ref => {
                value_ref = put_value(&mut self.packer, value).bytes();
                Some(Entry { key, tag, value: &value_ref })
            }
            Some(tag) => Some(Entry { key, tag, value }),
            None => None,
        };
        Ok(Step::Done(Some(self.rewrite(&leaf, place, entry.as_ref(), last, &path))))
    }

    /// Returns whether the leaf keeps its shape if the entry at `place` becomes one of `size` bytes, or is
    /// deleted (`None`). Costs a hash for each entry that moves back.
    fn fits(&self, leaf: &Leaf<'_>, place: Place, key: &[u8], size: Option<usize>) -> bool {
        let Place { index, present, rightmost } = place;
        let offset = |at: usize| leaf.offset(at);
        if index == leaf.len() && leaf.ends(self.shape, index - 1) {
            return false;
        }
        let rest = index + usize::from(present);
        let after = (rest..leaf.len()).map(|at| (leaf.key(at), offset(at + 1) - offset(at), at));
        let edited = size.map(|size| (key, size, usize::MAX));
        let count = index + leaf.len() - rest + usize::from(size.is_some());
        let mut from = offset(index);
        for (at, (key, size, old)) in (index..).zip(edited.into_iter().chain(after)) {
            let last = at + 1 == count;
            // A full leaf gets no further entry.
            if from >= self.shape.full as usize {
                return false;
            }
            // An entry that does not move back still does not end the leaf.
            let asked = last || old == usize::MAX || from > offset(old);
            let ends = asked && self.shape.ends(0, key, from, from + size, at + 1);
            if ends != last && !(last && rightmost) {
                return false;
            }
            from += size;
        }
        // Without its last entry a leaf has no boundary, which is allowed only at the end of the tree.
        count > 0 && (rightmost || rest < leaf.len() || size.is_some())
    }

    /// Makes the new leaf and the nodes of its path.
    fn rewrite(
        &mut self,
        leaf: &Leaf<'_>,
        place: Place,
        entry: Option<&Entry<'_>>,
        last: Option<Key<'_>>,
        path: &[(Inner<'_>, usize)],
    ) -> Tree {
        let Place { index, present, .. } = place;
        let to = index + usize::from(present);
        let mut hash = self.packer.put(Stream::Leaf, |out| leaf_with(leaf, index..to, entry, out));
        let grown = i64::from(entry.is_some()) - i64::from(present);
        for (parent, index) in path.iter().rev() {
            hash = self.packer.put(Stream::Inner, |out| {
                inner_with(parent, *index, &hash, grown, last, out);
            });
        }
        Tree { root: hash, count: self.tree.count.wrapping_add_signed(grown) }
    }
}
