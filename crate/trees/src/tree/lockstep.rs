//! Two walks in lockstep through two trees.
//!
//! If both are at subtrees with equal hashes, both skip them. Otherwise the one at the higher level
//! descends. So heights and boundaries may differ, and the cost is in proportion to the nodes that
//! are not shared. Memory is one path in each tree.
//!
//! Nodes that are opened are checked for the order of keys. A subtree that both trees have is skipped
//! without reading it, and both must say the same of it.

use crate::cache::{Cache, Fetch, Want};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::node::{Entry, Inner, Node};
use crate::step::{Budget, Step};
use crate::tree::{Range, Tree, top};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The callback for two entries of a key that differ; see [`Lockstep::step`]. It is not generic because
/// changes are few compared with skipped entries, and a walk is much code.
pub type OnChange<'f> =
    dyn FnMut(Option<&Entry<'_>>, Option<&Entry<'_>>, &mut Budget) -> Result<Step<()>, Error> + 'f;

#[derive(Clone, Copy, Debug)]
struct Frame {
    hash: Hash,
    next: usize,
}

/// A walk through one of the trees.
#[derive(Clone, Debug)]
struct Side {
    root: Option<Tree>,
    stack: Vec<Frame>,
    /// The last key before the node that was opened last, if any. The first node below that must begin
    /// beyond it, which a parent alone cannot show.
    edge: Option<Vec<u8>>,
}

/// The item at the position of a walk.
#[derive(Clone, Copy, Debug)]
enum Item<'a> {
    /// A subtree with its level.
    Node(u8, Hash),
    Entry(Entry<'a>),
    End,
}

/// Two walks in lockstep through two trees.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{Lockstep, Range};
///
/// let (cache, [old, new]) = store([&[("ann", "41"), ("bob", "35")], &[("bob", "35")]]);
/// let mut walk = Lockstep::new(old, new, Range::ALL);
/// let mut deleted = Vec::new();
/// let step = walk.step(&cache, &mut Budget::of(1 << 20), &mut |old, new, _| {
///     deleted.extend(old.filter(|_| new.is_none()).map(|entry| entry.key.to_vec()));
///     Ok(Step::Done(()))
/// });
/// assert_eq!((step, deleted), (Ok(Step::Done(())), vec![b"ann".to_vec()]));
/// ```
#[derive(Clone, Debug)]
pub struct Lockstep {
    old: Side,
    new: Side,
    range: Range,
}

impl Side {
    fn new(tree: Tree) -> Self {
        Self { root: (!tree.is_empty()).then_some(tree), stack: Vec::new(), edge: None }
    }

    /// Returns the next item that is not outside `range`.
    fn item<'c>(&mut self, cache: &'c Cache, range: &Range) -> Result<Fetch<Item<'c>>, Error> {
        if let Some(tree) = self.root {
            return Ok(match top(cache, tree)? {
                Fetch::Here(node) => Fetch::Here(Item::Node(node.level(), tree.root)),
                Fetch::At(want) => Fetch::At(want),
            });
        }
        while let Some(frame) = self.stack.last_mut() {
            match cache.node(&frame.hash)? {
                Fetch::At(want) => return Ok(Fetch::At(want)),
                Fetch::Here(Node::Leaf(leaf)) if frame.next < leaf.len() => {
                    let entry = leaf.entry(frame.next);
                    if range.key_is_after(&entry.key) {
                        return Ok(Fetch::Here(Item::End));
                    }
                    if !range.key_is_before(&entry.key) {
                        return Ok(Fetch::Here(Item::Entry(entry)));
                    }
                    frame.next += 1;
                }
                Fetch::Here(Node::Inner(inner)) if frame.next < inner.len() => {
                    if frame.next > 0 && range.ends_by(inner.key(frame.next - 1)) {
                        return Ok(Fetch::Here(Item::End));
                    }
                    if !range.key_is_before(inner.key(frame.next)) {
                        let hash = inner.hash(frame.next);
                        return Ok(Fetch::Here(Item::Node(inner.level() - 1, hash)));
                    }
                    frame.next += 1;
                }
                Fetch::Here(_) => {
                    self.stack.pop();
                }
            }
        }
        Ok(Fetch::Here(Item::End))
    }

    /// Skips the item.
    fn skip(&mut self) {
        if self.root.take().is_none()
            && let Some(frame) = self.stack.last_mut()
        {
            frame.next += 1;
        }
    }

    /// Opens the subtree at the position of the walk; returns its segment if it is not in memory.
    fn open(&mut self, cache: &Cache, hash: Hash) -> Result<Option<Want>, Error> {
        let (fetched, before) = match self.stack.last() {
            None => (cache.node(&hash)?, None),
            Some(frame) => match cache.node(&frame.hash)? {
                Fetch::Here(Node::Inner(parent)) => {
                    let before = frame.next.checked_sub(1).map(|index| parent.key(index));
                    (cache.child(&parent, frame.next)?, before)
                }
                fetched => (fetched, None),
            },
        };
        let node = match fetched {
            Fetch::At(want) => return Ok(Some(want)),
            Fetch::Here(node) => node,
        };
        match (before, &mut self.edge) {
            // `Cache::child` has checked that it begins beyond this key.
            (Some(before), edge) => {
                let edge = edge.get_or_insert_default();
                edge.clear();
                edge.extend_from_slice(before);
            }
            (None, Some(edge)) if node.first_key() <= &edge[..] => {
                return Err(corrupt(hash, DecodeError::new(Field::KeyOrder, 0, 0, 0)));
            }
            (None, _) => {}
        }
        self.skip();
        self.stack.push(Frame { hash, next: 0 });
        Ok(None)
    }
}

const fn corrupt(hash: Hash, cause: DecodeError) -> Error {
    Error::CorruptChunk { hash, cause: Some(cause) }
}

/// Checks that two nodes say the same of a child that they share: `old` has it at `at`, `new` at `to`.
fn agree(old: &Inner<'_>, at: usize, new: &Inner<'_>, to: usize) -> Result<(), Error> {
    let (a, b) = (old.child(at), new.child(to));
    let (field, offset, expected, got) = if old.level() != new.level() {
        (Field::ChildLevel, 0, u64::from(old.level()) - 1, u64::from(new.level()) - 1)
    } else if a.count != b.count {
        (Field::ChildCount, 2, a.count, b.count)
    } else if a.key != b.key {
        (Field::ChildKey, 0, a.key.len() as u64, b.key.len() as u64)
    } else {
        return Ok(());
    };
    Err(corrupt(a.hash, DecodeError::new(field, offset, expected, got)))
}

impl Lockstep {
    /// Begins a walk through `range` of both trees.
    #[must_use]
    pub fn new(old: Tree, new: Tree, range: Range) -> Self {
        Self { old: Side::new(old), new: Side::new(new), range }
    }

    /// Continues the walk. Calls `change` with the two entries of a key that differ, or with one if only
    /// one tree has the key. `change` spends its own cost. Until it is done, it is called again with the
    /// same entries.
    ///
    /// # Errors
    /// As [`Cache::node`], and the errors of `change`.
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        change: &mut OnChange<'_>,
    ) -> Result<Step<()>, Error> {
        loop {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let (old, new) =
                match (self.old.item(cache, &self.range)?, self.new.item(cache, &self.range)?) {
                    (Fetch::Here(old), Fetch::Here(new)) => (old, new),
                    (Fetch::At(a), Fetch::At(b)) if !a.shares_segment(b) => {
                        return Ok(Step::Need(Vec::from([a.whole(), b.whole()])));
                    }
                    (Fetch::At(want), _) | (_, Fetch::At(want)) => {
                        return Ok(Step::Need(Vec::from([want.whole()])));
                    }
                };
            // Includes the nodes that the last turn opened and checked.
            budget.spend(64);
            match (old, new) {
                (Item::End, Item::End) => return Ok(Step::Done(())),
                (Item::Node(_, a), Item::Node(_, b)) if a == b => {
                    budget.spend(16 * self.pass(cache)?);
                }
                (Item::Node(level, hash), Item::Node(other, _)) if level > other => {
                    if let Some(id) = self.old.open(cache, hash)? {
                        return Ok(Step::Need(Vec::from([id.whole()])));
                    }
                }
                (Item::Node(level, _), Item::Node(other, hash)) if level < other => {
                    if let Some(id) = self.new.open(cache, hash)? {
                        return Ok(Step::Need(Vec::from([id.whole()])));
                    }
                }
                (Item::Node(_, a), Item::Node(_, b)) => {
                    // Load both before either is opened: one wait for two reads.
                    let waits = |fetched: Fetch<Node<'_>>| match fetched {
                        Fetch::Here(_) => None,
                        Fetch::At(want) => Some(want.whole()),
                    };
                    let missing = [waits(cache.node(&a)?), waits(cache.node(&b)?)];
                    let mut missing: Vec<_> = missing.into_iter().flatten().collect();
                    missing.dedup();
                    if !missing.is_empty() {
                        return Ok(Step::Need(missing));
                    }
                    let opened = [self.old.open(cache, a)?, self.new.open(cache, b)?];
                    if let Some(id) = opened.into_iter().flatten().next() {
                        return Ok(Step::Need(Vec::from([id.whole()])));
                    }
                }
                (Item::Node(_, hash), _) => {
                    if let Some(id) = self.old.open(cache, hash)? {
                        return Ok(Step::Need(Vec::from([id.whole()])));
                    }
                }
                (_, Item::Node(_, hash)) => {
                    if let Some(id) = self.new.open(cache, hash)? {
                        return Ok(Step::Need(Vec::from([id.whole()])));
                    }
                }
                (Item::Entry(_), _) | (_, Item::Entry(_)) => {
                    match self.entries(old, new, budget, change)? {
                        Step::Done(()) => {}
                        waiting => return Ok(waiting),
                    }
                }
            }
        }
    }

    /// Skips the subtree that both trees share, and the following ones that they also share; returns their
    /// number.
    fn pass(&mut self, cache: &Cache) -> Result<usize, Error> {
        let (Some(old), Some(new)) = (self.old.stack.last_mut(), self.new.stack.last_mut()) else {
            // One of them is a root, which is in memory and was checked against the count of its tree.
            if let Some(frame) = self.old.stack.last().or(self.new.stack.last())
                && let Fetch::Here(Node::Inner(parent)) = cache.node(&frame.hash)?
            {
                cache.child(&parent, frame.next)?;
            }
            self.old.skip();
            self.new.skip();
            return Ok(1);
        };
        let from = old.next;
        if let (Fetch::Here(Node::Inner(a)), Fetch::Here(Node::Inner(b))) =
            (cache.node(&old.hash)?, cache.node(&new.hash)?)
        {
            while old.next < a.len() && new.next < b.len() && a.hash(old.next) == b.hash(new.next) {
                agree(&a, old.next, &b, new.next)?;
                old.next += 1;
                new.next += 1;
            }
        }
        Ok(old.next - from)
    }

    /// Reports the difference between two items, at least one of them an entry, and skips it.
    fn entries(
        &mut self,
        old: Item<'_>,
        new: Item<'_>,
        budget: &mut Budget,
        change: &mut OnChange<'_>,
    ) -> Result<Step<()>, Error> {
        let entry = |item| if let Item::Entry(entry) = item { Some(entry) } else { None };
        let (mut old, mut new) = (entry(old), entry(new));
        if let (Some(a), Some(b)) = (&old, &new) {
            match a.key.cmp(&b.key) {
                Ordering::Less => new = None,
                Ordering::Greater => old = None,
                Ordering::Equal => {}
            }
        }
        if old != new {
            match change(old.as_ref(), new.as_ref(), budget)? {
                Step::Done(()) => {}
                waiting => return Ok(waiting),
            }
        }
        if old.is_some() {
            self.old.skip();
        }
        if new.is_some() {
            self.new.skip();
        }
        Ok(Step::Done(()))
    }
}
