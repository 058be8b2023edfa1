//! Applies a sorted batch of edits to a tree, at the cost of the touched nodes.
//!
//! First the [`Plan`] reads the internal nodes above touched leaves, level by level. Then one walk in
//! the order of keys feeds a [`Builder`]: with the entries of touched leaves, merged with the edits,
//! and with untouched subtrees, which are relinked by hash. A subtree can be relinked if the builder is
//! at the start of a node at each level below it. After an edit that removed a boundary this is not so,
//! and the walk opens the next nodes until old and new boundaries meet again.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::cache::{Cache, Fetch};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::limits::{MAX_INLINE_VALUE_BYTES, MAX_LEVEL};
use crate::node::{Inner, Leaf, Node};
use crate::segment::Packer;
use crate::step::{Budget, Step};
use crate::tree::plan::{Plan, SortedKeys};
use crate::tree::{Builder, Range, Tree, top};
use alloc::vec::Vec;
use core::ops::Bound;

impl SortedKeys for Batch {
    fn len(&self) -> usize {
        self.len()
    }

    fn after(&self, from: usize, key: &[u8]) -> usize {
        self.after(from, key)
    }
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    hash: Hash,
    /// The index of the next child, or in a leaf of the next entry.
    next: usize,
    /// The edits before this index belong to the node.
    end: usize,
    /// It is the last node of its level.
    rightmost: bool,
}

#[derive(Debug)]
enum Phase {
    Plan,
    Start,
    Walk,
    /// The walk is done. While the top has only one child, that child replaces it.
    Collapse(Tree),
}

/// Applies a sorted batch of edits to a tree, at the cost of the touched nodes. Call
/// [`Merge::step`] with the same batch each time, sorted by [`Batch::sort`].
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::batch::{Batch, Edit};
/// use hedgerow_trees::boundary::Shape;
/// use hedgerow_trees::key::Key;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::Merge;
///
/// let (cache, [tree, without_bob]) = store([&[("ann", "41"), ("bob", "35")], &[("ann", "41")]]);
/// let mut edits = Batch::new();
/// edits.push(Key::trusted(b"bob"), Edit::Delete);
/// edits.close_run();
/// let mut merge = Merge::new(tree, &edits, Shape::STORED);
/// // Equal rows make equal trees.
/// let step = merge.step(&cache, &edits, &mut Budget::of(1 << 20));
/// assert_eq!(step, Ok(Step::Done(without_bob)));
/// ```
#[derive(Debug)]
pub struct Merge {
    tree: Tree,
    plan: Plan,
    phase: Phase,
    builder: Builder,
    stack: Vec<Frame>,
    /// The first edit that is not applied yet.
    next: usize,
    /// The range whose entries are all deleted.
    drop: Option<Range>,
    /// The last key that the walk has passed, if any.
    edge: Option<Vec<u8>>,
}

/// The fate of a child in a merge.
enum Fate {
    Relink,
    Open,
    Drop,
}

impl Merge {
    /// Begins a merge into `tree`, whose nodes have `shape`.
    #[must_use]
    pub fn new(tree: Tree, edits: &Batch, shape: Shape) -> Self {
        let plan = Plan::new(tree, edits.len());
        let builder = Builder::new(shape);
        Self {
            tree,
            plan,
            phase: Phase::Plan,
            builder,
            stack: Vec::new(),
            next: 0,
            drop: None,
            edge: None,
        }
    }

    /// Begins a merge that deletes all entries of `range` from `tree`; step it with an empty batch.
    /// Subtrees in the range are dropped without reading them.
    #[must_use]
    pub fn dropping(tree: Tree, range: Range, shape: Shape) -> Self {
        Self { drop: Some(range), ..Self::new(tree, &Batch::new(), shape) }
    }

    /// Returns the segments made so far.
    pub const fn packer(&mut self) -> &mut Packer {
        self.builder.packer()
    }

    /// Continues until the tree is built. Its chunks are in [`Merge::packer`], the last of them not
    /// sealed.
    ///
    /// # Errors
    /// As [`Cache::node`]; the old tree is unchanged.
    pub fn step(
        &mut self,
        cache: &Cache,
        edits: &Batch,
        budget: &mut Budget,
    ) -> Result<Step<Tree>, Error> {
        loop {
            match self.phase {
                Phase::Plan => match self.plan.step(cache, edits, budget)? {
                    Step::Done(()) => self.phase = Phase::Start,
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                },
                Phase::Start => {
                    if !self.tree.is_empty() {
                        let root = self.tree.root;
                        match top(cache, self.tree)? {
                            Fetch::At(want) => {
                                return Ok(Step::Need(self.plan.ahead(cache, want, self.next)));
                            }
                            Fetch::Here(_) => self.enter(root, edits.len(), true),
                        }
                    }
                    self.phase = Phase::Walk;
                }
                Phase::Walk => match self.walk(cache, edits, budget)? {
                    Step::Done(()) => {
                        // Edits beyond the last key of the tree.
                        while self.next < edits.len() {
                            if budget.is_over(cache) {
                                return Ok(Step::Yield);
                            }
                            if !self.apply(edits, budget) {
                                return Ok(Step::Yield);
                            }
                        }
                        let finished = self.builder.finish();
                        if finished.level > usize::from(MAX_LEVEL) {
                            // This many honest entries would not fit into any memory.
                            let (expected, got) = (MAX_LEVEL.into(), finished.level as u64);
                            let cause = Some(DecodeError::new(Field::Kind, 0, expected, got));
                            return Err(Error::CorruptChunk { hash: self.tree.root, cause });
                        }
                        if !finished.relinked {
                            return Ok(Step::Done(finished.tree));
                        }
                        self.phase = Phase::Collapse(finished.tree);
                    }
                    Step::Need(wanted) => return Ok(Step::Need(wanted)),
                    Step::Yield => return Ok(Step::Yield),
                },
                Phase::Collapse(tree) => match cache.node(&tree.root)? {
                    Fetch::At(want) => return Ok(Step::Need(Vec::from([want]))),
                    Fetch::Here(Node::Inner(inner)) if inner.len() == 1 => {
                        self.phase = Phase::Collapse(Tree { root: inner.hash(0), ..tree });
                    }
                    Fetch::Here(_) => return Ok(Step::Done(tree)),
                },
            }
        }
    }

    /// Walks the old tree to its end.
    fn walk(
        &mut self,
        cache: &Cache,
        edits: &Batch,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while let Some(frame) = self.stack.last().copied() {
            let node = match cache.node(&frame.hash)? {
                Fetch::At(want) => return Ok(Step::Need(self.plan.ahead(cache, want, self.next))),
                Fetch::Here(node) => node,
            };
            // Checks that keys ascend across nodes, which a parent alone cannot show.
            let reaches_back = |edge: &[u8]| node.first_key() <= edge;
            if frame.next == 0 && self.edge.as_deref().is_some_and(reaches_back) {
                let cause = Some(DecodeError::new(Field::KeyOrder, 0, 0, 0));
                return Err(Error::CorruptChunk { hash: frame.hash, cause });
            }
            let parent = match node {
                Node::Inner(parent) => parent,
                Node::Leaf(leaf) => {
                    if !self.merge_leaf(&leaf, frame, edits, budget) {
                        return Ok(Step::Yield);
                    }
                    self.pass(leaf.key(leaf.len() - 1));
                    self.stack.pop();
                    continue;
                }
            };
            let index = self.relink(&parent, frame, edits);
            if index < parent.len() && matches!(self.fate(&parent, index), Fate::Drop) {
                self.pass(parent.key(index));
                self.set_next(index + 1);
                continue;
            }
            if index < parent.len() {
                if budget.is_over(cache) {
                    self.set_next(index);
                    return Ok(Step::Yield);
                }
                let rightmost = frame.rightmost && index + 1 == parent.len();
                let end =
                    if rightmost { edits.len() } else { edits.after(self.next, parent.key(index)) };
                match cache.child(&parent, index)? {
                    Fetch::At(want) => {
                        self.set_next(index);
                        return Ok(Step::Need(self.plan.ahead(cache, want, self.next)));
                    }
                    Fetch::Here(_) => {
                        self.set_next(index + 1);
                        self.enter(parent.hash(index), end, rightmost);
                        budget.spend(256);
                    }
                }
            } else {
                self.stack.pop();
            }
        }
        Ok(Step::Done(()))
    }

    fn set_next(&mut self, index: usize) {
        if let Some(frame) = self.stack.last_mut() {
            frame.next = index;
        }
    }

    /// Records that the walk has passed `key`.
    fn pass(&mut self, key: &[u8]) {
        let edge = self.edge.get_or_insert_default();
        edge.clear();
        edge.extend_from_slice(key);
    }

    /// Relinks children of `parent`, beginning with `frame.next`, as far as possible; returns the first
    /// that must be opened.
    fn relink(&mut self, parent: &Inner<'_>, frame: Frame, edits: &Batch) -> usize {
        let level = parent.level() - 1;
        let mut index = frame.next;
        if !self.builder.is_clean(level) {
            return index;
        }
        // The children before the one that the next edit belongs to.
        let until = if self.next < edits.len() {
            let last = parent.len() - usize::from(frame.rightmost);
            parent.route(index, &edits.key(self.next)).min(last)
        } else {
            let touched = |index: &usize| !matches!(self.fate(parent, *index), Fate::Relink);
            (index..parent.len()).find(touched).unwrap_or(parent.len())
        };
        while index < until {
            self.builder.relink(level, &parent.child(index));
            index += 1;
        }
        if index > frame.next {
            self.pass(parent.key(index - 1));
        }
        index
    }

    /// Decides what the dropped range requires of the child at `index`.
    fn fate(&self, parent: &Inner<'_>, index: usize) -> Fate {
        let Some(range) = &self.drop else { return Fate::Relink };
        let last = parent.key(index);
        // Before the first child, the previous key is the last that the walk has passed.
        let previous = match index.checked_sub(1) {
            Some(index) => Some(parent.key(index)),
            None => self.edge.as_deref(),
        };
        let starts_inside = match (&range.lower, previous) {
            (Bound::Unbounded, _) => true,
            (Bound::Included(lower) | Bound::Excluded(lower), Some(key)) => key >= &lower[..],
            (_, None) => false,
        };
        if range.key_is_before(last) || previous.is_some_and(|key| range.ends_by(key)) {
            Fate::Relink
        } else if starts_inside && !range.key_is_after(last) {
            Fate::Drop
        } else {
            Fate::Open
        }
    }

    /// Opens a node that the edits before `end` touch, or that must be opened because boundaries differ.
    fn enter(&mut self, hash: Hash, end: usize, rightmost: bool) {
        self.stack.push(Frame { hash, next: 0, end, rightmost });
    }

    /// Merges a leaf with its edits; `false` if the budget ended first.
    fn merge_leaf(
        &mut self,
        leaf: &Leaf<'_>,
        frame: Frame,
        edits: &Batch,
        budget: &mut Budget,
    ) -> bool {
        let mut at = frame.next;
        if let Some(range) = &self.drop {
            let (from, to) = range.within(leaf);
            self.builder.push_run(leaf, at, from);
            at = to;
        }
        while self.next < frame.end {
            if budget.is_spent() {
                self.set_next(at);
                return false;
            }
            let (place, present) = match leaf.search(at, &edits.key(self.next)) {
                Ok(place) => (place, true),
                Err(place) => (place, false),
            };
            self.builder.push_run(leaf, at, place);
            budget.spend(leaf.end(place) - leaf.end(at));
            if !self.apply(edits, budget) {
                self.set_next(place);
                return false;
            }
            at = place + usize::from(present);
        }
        budget.spend(leaf.end(leaf.len()) - leaf.end(at));
        self.builder.push_run(leaf, at, leaf.len());
        true
    }

    /// Applies the next edit; `false` if the budget ended before its value was written.
    fn apply(&mut self, edits: &Batch, budget: &mut Budget) -> bool {
        let key = edits.key(self.next);
        if let Edit::Put(value) = edits.edit(self.next) {
            if !self.builder.push_some(key, value, budget) {
                return false;
            }
            // The writer of a longer value has spent its cost.
            budget.spend(value.bytes().len().min(MAX_INLINE_VALUE_BYTES));
        }
        budget.spend(key.len() + 32);
        self.next += 1;
        true
    }
}
