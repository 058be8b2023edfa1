//! Walks the leaves of a tree that hold a range of keys, in either direction.

use crate::cache::{Cache, Fetch, Want};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::limits::SEGMENT_BYTES;
use crate::node::{Inner, Leaf, Node};
use crate::tree::{Range, Tree, top};
use alloc::vec::Vec;
use core::ops::Bound;

/// The part of a leaf that is in the range and not read yet.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The leaf.
    pub leaf: Leaf<'a>,
    /// The first entry of the part.
    pub from: usize,
    /// The entry after its last.
    pub to: usize,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    hash: Hash,
    /// Children from `next` are not walked yet; in reverse, children before `next`.
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct LeafAt {
    hash: Hash,
    from: usize,
    to: usize,
}

/// Walks the leaves of a tree that hold a range of keys, in either direction. It borrows no data:
/// each call looks nodes up again, so that they may leave memory in between.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::cache::Fetch;
/// use hedgerow_trees::tree::{Cursor, Range};
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35")]]);
/// let mut cursor = Cursor::new(tree, Range::ALL, false);
/// let mut keys = Vec::new();
/// while let Ok(Fetch::Here(Some(run))) = cursor.run(&cache) {
///     keys.extend((run.from..run.to).map(|at| run.leaf.key(at).to_vec()));
///     cursor.advance(run.to - run.from);
/// }
/// assert_eq!(keys, [b"ann", b"bob"]);
/// ```
#[derive(Clone, Debug)]
pub struct Cursor {
    root: Option<Tree>,
    range: Range,
    reverse: bool,
    stack: Vec<Frame>,
    leaf: Option<LeafAt>,
    /// The last key of the previous leaf (in reverse, its first). The next leaf must be beyond it.
    edge: Option<Vec<u8>>,
    /// The number of entries that are still to be skipped.
    skip: u64,
}

impl Cursor {
    /// Makes a cursor over `range` of `tree`, in descending order when `reverse`.
    #[must_use]
    pub fn new(tree: Tree, range: Range, reverse: bool) -> Self {
        let root = (!tree.is_empty()).then_some(tree);
        Self { root, range, reverse, stack: Vec::new(), leaf: None, edge: None, skip: 0 }
    }

    /// Skips the first `count` entries of the range. Costs two descents: one to the beginning of the range,
    /// unless that is the end of the tree, and one to the first entry that is read.
    pub const fn skip(&mut self, count: u64) {
        self.skip = count;
    }

    /// Returns the next part to read; `None` at the end. Costs a node lookup, and a descent at the end of a leaf.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn run<'c>(&mut self, cache: &'c Cache) -> Result<Fetch<Option<Run<'c>>>, Error> {
        loop {
            if let Some(LeafAt { hash, from, to }) = self.leaf {
                if from < to {
                    return Ok(match cache.node(&hash)? {
                        Fetch::Here(Node::Leaf(leaf)) => Fetch::Here(Some(Run { leaf, from, to })),
                        Fetch::Here(Node::Inner(_)) => Fetch::Here(None),
                        Fetch::At(want) => Fetch::At(want),
                    });
                }
                self.leaf = None;
            }
            if let Some(root) = self.root {
                match top(cache, root)? {
                    Fetch::Here(node) => self.enter(root.root, node),
                    Fetch::At(want) => return Ok(Fetch::At(want)),
                }
                self.root = None;
            } else {
                let Some(frame) = self.stack.last().copied() else { return Ok(Fetch::Here(None)) };
                let parent = match cache.node(&frame.hash)? {
                    Fetch::Here(Node::Inner(parent)) => parent,
                    Fetch::Here(Node::Leaf(_)) => return Ok(Fetch::Here(None)),
                    Fetch::At(want) => return Ok(Fetch::At(want)),
                };
                let from = self.skip_children(&parent, frame.next);
                let depth = self.stack.len() - 1;
                self.stack[depth].next = from;
                let Some(index) = self.next_child(&parent, from) else {
                    self.stack.pop();
                    continue;
                };
                let next = if self.reverse { index } else { index + 1 };
                match cache.child(&parent, index)? {
                    Fetch::Here(node) => {
                        if let Node::Leaf(leaf) = node {
                            self.check_order(&parent.hash(index), &leaf)?;
                        }
                        self.stack[depth].next = next;
                        self.enter(parent.hash(index), node);
                    }
                    Fetch::At(want) => return Ok(Fetch::At(want)),
                }
            }
        }
    }

    /// Skips whole children from the position `next` of a frame on; returns the position after them. The end
    /// of the range does not matter: entries skipped beyond it are not in the range either.
    fn skip_children(&mut self, parent: &Inner<'_>, next: usize) -> usize {
        let near = if self.reverse { &self.range.upper } else { &self.range.lower };
        // Children after the first leaf do not begin before the range.
        let is_within = self.edge.is_some() || matches!(near, Bound::Unbounded);
        if self.skip == 0 || !is_within {
            return next;
        }
        let before = parent.count_before(next);
        let (mut low, mut high) = if self.reverse { (0, next) } else { (next, parent.len()) };
        while low < high {
            let middle = low + (high - low) / 2;
            let is_low = if self.reverse {
                before - parent.count_before(middle) > self.skip
            } else {
                parent.count_before(middle + 1) - before <= self.skip
            };
            if is_low {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.skip -= before.abs_diff(parent.count_before(low));
        low
    }

    /// Checks the order of keys across leaves, which a parent alone cannot show.
    fn check_order(&mut self, hash: &Hash, leaf: &Leaf<'_>) -> Result<(), Error> {
        let (first, last) = (leaf.key(0), leaf.key(leaf.len() - 1));
        let (near, far) = if self.reverse { (last, first) } else { (first, last) };
        let beyond = |edge: &[u8]| if self.reverse { near < edge } else { near > edge };
        if !self.edge.as_deref().is_none_or(beyond) {
            let cause = Some(DecodeError::new(Field::KeyOrder, 0, 0, 0));
            return Err(Error::CorruptChunk { hash: *hash, cause });
        }
        let edge = self.edge.get_or_insert_default();
        edge.clear();
        edge.extend_from_slice(far);
        Ok(())
    }

    /// Returns the child to enter next, given the position `next` of a frame; `None` if it is not in the range.
    fn next_child(&self, parent: &Inner<'_>, next: usize) -> Option<usize> {
        if self.reverse {
            let index = next.checked_sub(1)?;
            (!self.range.key_is_before(parent.key(index))).then_some(index)
        } else {
            let ended = next > 0 && self.range.ends_by(parent.key(next - 1));
            (next < parent.len() && !ended).then_some(next)
        }
    }

    fn enter(&mut self, hash: Hash, node: Node<'_>) {
        use Bound::{Excluded, Included, Unbounded};
        match node {
            Node::Leaf(leaf) => {
                let (from, to) = self.range.within(&leaf);
                self.leaf = Some(LeafAt { hash, from, to });
                let skipped = self.skip.min(to.saturating_sub(from) as u64);
                self.skip -= skipped;
                self.advance(skipped as usize);
            }
            Node::Inner(inner) => {
                let next = match (self.reverse, &self.range.lower, &self.range.upper) {
                    (false, Included(key) | Excluded(key), _) => inner.route(0, key),
                    (false, Unbounded, _) => 0,
                    (true, _, Included(key) | Excluded(key)) => {
                        inner.len().min(inner.route(0, key) + 1)
                    }
                    (true, _, Unbounded) => inner.len(),
                };
                self.stack.push(Frame { hash, next });
            }
        }
    }

    /// Marks `count` entries of the run as read.
    pub const fn advance(&mut self, count: usize) {
        if let Some(leaf) = &mut self.leaf {
            if self.reverse {
                leaf.to -= count;
            } else {
                leaf.from += count;
            }
        }
    }

    /// Lists the whole segments that the walk will need and that are not in memory, in order, beginning with
    /// `first` if it is given. Reads only nodes in memory, and lists at most `most` segments: more would drive
    /// out segments that are needed before.
    #[must_use]
    pub fn ahead(&self, cache: &Cache, first: Option<Want>, most: usize) -> Vec<Want> {
        let wanted = Vec::from_iter(first.map(Want::whole));
        let mut ahead = Ahead { cache, wanted, most, bytes: most * SEGMENT_BYTES };
        for frame in self.stack.iter().rev() {
            if let Ok(Fetch::Here(Node::Inner(parent))) = cache.node(&frame.hash) {
                self.gather(&mut ahead, &parent, frame.next);
            }
        }
        ahead.wanted
    }

    /// Continues from the child at `at`. Children are checked against their parent, so that a node that is
    /// named repeatedly ends it.
    fn gather(&self, ahead: &mut Ahead<'_>, parent: &Inner<'_>, mut at: usize) {
        while ahead.wanted.len() < ahead.most && ahead.bytes > 0 {
            let Some(index) = self.next_child(parent, at) else { return };
            let hash = parent.hash(index);
            match ahead.cache.missing(&hash) {
                Ok(Some(want)) => ahead.add(want, &hash),
                Ok(None) if parent.level() == 1 => ahead.pass(&hash),
                Ok(None) => match ahead.cache.child(parent, index) {
                    Ok(Fetch::Here(Node::Inner(child))) => {
                        let start = if self.reverse { child.len() } else { 0 };
                        self.gather(ahead, &child, start);
                    }
                    _ => return,
                },
                Err(_) => return,
            }
            at = if self.reverse { index } else { index + 1 };
        }
    }
}

/// Gathers the segments that a walk will need.
struct Ahead<'c> {
    cache: &'c Cache,
    wanted: Vec<Want>,
    most: usize,
    /// Bytes of leaves that are still to be looked at.
    bytes: usize,
}

impl Ahead<'_> {
    fn add(&mut self, want: Want, hash: &Hash) {
        if !self.wanted.contains(&want.whole()) {
            self.wanted.push(want.whole());
        }
        self.pass(hash);
    }

    fn pass(&mut self, hash: &Hash) {
        self.bytes = self.bytes.saturating_sub(self.cache.chunk_len(hash).unwrap_or(0));
    }
}
