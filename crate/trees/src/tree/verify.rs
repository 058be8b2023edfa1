//! Verifies all chunks that a tree reaches, and reports each fault instead of ending at the first.
//!
//! It checks the hash and the form of each node, that it is as its parent says, the order of keys across nodes, and the
//! boundary function; the length and the pieces of each value out of line; and that each JSON value may be stored
//! ([`Value::parse`]). If a chunk is damaged or missing, its parent says which keys it covers, and the walk continues
//! after it. A node whose keys the walk has passed already is a fault. So each node is entered once, and the walk ends
//! even if nodes are named repeatedly.

use crate::boundary::Shape;
use crate::cache::{Cache, Fetch, Want};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::json::{Scanner, TextFault};
use crate::node::{Inner, Node};
use crate::step::{Budget, Step};
use crate::tree::canonical::is_canonical;
use crate::tree::segments_ahead::SegmentsAhead;
use crate::tree::value_check::{Checked, ValueCheck};
use crate::tree::{Range, Tree, top};
use crate::value::{Value, ValueFault};
use alloc::vec::Vec;
use core::ops::Bound;

/// The most segments that are asked for at once, or loaded while others are read.
const MOST_AHEAD: usize = 8;

/// The fault of a value that can be read, but is not in normal form.
const OF_FORM: ValueFault = ValueFault::Text(TextFault::NotNormal);

/// The part of a tree that has a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node, and its level, unless it is an unreadable top.
    Node(Option<u8>),
    /// The value of one key, or a part of it.
    Value,
    /// A node, or the value of one key, that is readable but not in canonical form. Rows can be read, but
    /// equal rows do not make equal trees.
    Form,
}

/// A chunk that cannot be read, and the keys and rows lost with it; or one that is not in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The chunk.
    pub hash: Hash,
    /// The part that it is.
    pub part: Part,
    /// The error of reading it, or of its form.
    pub error: Error,
    /// The keys that it covers.
    pub range: Range,
    /// The number of rows in the range, as its parent says. They are lost, unless the part is
    /// [`Part::Form`].
    pub rows: u64,
}

/// The counts of the parts that the walk has found sound so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows that can be read.
    pub rows: u64,
    /// Nodes.
    pub nodes: u64,
    /// Values out of line.
    pub values: u64,
    /// Bytes of nodes and of values out of line.
    pub bytes: u64,
    /// Rows that are at a remote, and the top nodes of the subtrees that they are in. The walk does not fetch them.
    pub remote_rows: u64,
    /// See `remote_rows`.
    pub remote_nodes: u64,
}

/// A node that the walk is in. Each step looks it up again. If it cannot be read then, this says
/// which keys and rows are lost with the rest of it.
#[derive(Clone, Debug)]
struct Frame {
    hash: Hash,
    level: u8,
    /// The index of the next child or entry.
    next: usize,
    last_key: Vec<u8>,
    /// The number of rows from `next` to the end.
    left: u64,
    /// It is the last node of its level.
    rightmost: bool,
}

/// Verifies all chunks that a tree reaches, and reports each fault instead of ending at the first.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::boundary::Shape;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::Verify;
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35")]]);
/// let mut verify = Verify::new(tree, Shape::STORED);
/// assert_eq!(verify.step(&cache, &mut Budget::of(1 << 20)), Step::Done(()));
/// assert_eq!((verify.take_faults().len(), verify.tally().rows), (0, 2));
/// ```
#[derive(Debug)]
pub struct Verify {
    /// The tree, until the walk enters it.
    tree: Option<Tree>,
    shape: Shape,
    stack: Vec<Frame>,
    value: Option<ValueCheck>,
    scanner: Scanner,
    /// The last key that the walk has passed.
    edge: Option<Vec<u8>>,
    ahead: usize,
    tally: Tally,
    faults: Vec<Fault>,
}

pub(super) const fn corrupt(hash: Hash, field: Field, expected: u64, got: u64) -> Error {
    Error::CorruptChunk { hash, cause: Some(DecodeError { field, offset: 0, expected, got }) }
}

impl Verify {
    /// Begins a verification of `tree`, whose nodes have `shape`.
    #[must_use]
    pub fn new(tree: Tree, shape: Shape) -> Self {
        Self {
            tree: (!tree.is_empty()).then_some(tree),
            shape,
            stack: Vec::new(),
            value: None,
            scanner: Scanner::default(),
            edge: None,
            ahead: 1,
            tally: Tally::default(),
            faults: Vec::new(),
        }
    }

    /// Returns the counts of the parts that the walk has found sound so far.
    #[must_use]
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Takes the faults found since the last call, in the order of keys.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        core::mem::take(&mut self.faults)
    }

    /// Returns the segments that the walk will need next and that are not in memory.
    #[must_use]
    pub fn ahead(&self, cache: &Cache) -> Vec<Want> {
        if self.ahead < MOST_AHEAD.min(cache.window()) {
            return Vec::new();
        }
        self.wanted(cache, None, self.ahead / 2)
    }

    /// Continues until everything is checked. It never fails: see [`Verify::take_faults`]. Costs a pass
    /// over all bytes, and memory for the largest JSON value out of line.
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Step<()> {
        loop {
            if budget.is_over(cache) {
                return Step::Yield;
            }
            budget.spend(32);
            let missing = if self.value.is_some() {
                self.check_value(cache, budget)
            } else if let Some(tree) = self.tree {
                self.start(cache, tree, budget)
            } else if self.stack.is_empty() {
                return Step::Done(());
            } else {
                self.go_on(cache, budget)
            };
            if let Some(id) = missing {
                self.ahead = (self.ahead * 2).min(cache.window()).min(MOST_AHEAD);
                return Step::Need(self.wanted(cache, Some(id), self.ahead));
            }
        }
    }

    fn start(&mut self, cache: &Cache, tree: Tree, budget: &mut Budget) -> Option<Want> {
        match top(cache, tree) {
            Ok(Fetch::At(want)) if want.is_remote() => self.pass_remote(tree.count),
            Ok(Fetch::At(want)) => return Some(want),
            Ok(Fetch::Here(node)) => self.enter(cache, tree.root, &node, true, budget),
            Err(error) => self.faults.push(Fault {
                hash: tree.root,
                part: Part::Node(None),
                error,
                range: Range::ALL,
                rows: tree.count,
            }),
        }
        self.tree = None;
        None
    }

    fn enter(
        &mut self,
        cache: &Cache,
        hash: Hash,
        node: &Node<'_>,
        rightmost: bool,
        budget: &mut Budget,
    ) {
        let len = cache.chunk_len(&hash).unwrap_or(0);
        budget.spend(len);
        self.tally.nodes += 1;
        self.tally.bytes += len as u64;
        let (last_key, left) = (node.last_key().to_vec(), node.total());
        if !is_canonical(self.shape, node, self.stack.is_empty(), rightmost) {
            let lower = self.edge.clone().map_or(Bound::Unbounded, Bound::Excluded);
            let range = Range { lower, upper: Bound::Included(last_key.clone()) };
            let error = corrupt(hash, Field::Boundary, 0, len as u64);
            self.faults.push(Fault { hash, part: Part::Form, error, range, rows: left });
        }
        self.stack.push(Frame { hash, level: node.level(), next: 0, last_key, left, rightmost });
    }

    /// Continues in the current node.
    fn go_on(&mut self, cache: &Cache, budget: &mut Budget) -> Option<Want> {
        let frame = self.stack.last()?;
        let (hash, index) = (frame.hash, frame.next);
        match cache.node(&hash) {
            Ok(Fetch::At(want)) if want.is_remote() => {
                // Its copy here was found damaged since it was entered. A read would take the copy at the remote.
                let Frame { last_key, left, .. } = self.stack.pop()?;
                self.pass_remote(left);
                self.edge = Some(last_key);
            }
            Ok(Fetch::At(want)) => return Some(want),
            Ok(Fetch::Here(Node::Inner(parent))) if index < parent.len() => {
                return self.check_child(cache, &parent, index, budget);
            }
            Ok(Fetch::Here(Node::Leaf(leaf))) if index < leaf.len() => {
                for entry in (index..leaf.len()).map(|index| leaf.entry(index)) {
                    self.pass_one(1);
                    budget.spend(entry.value.len() + 16);
                    if let Some(value_ref) = entry.value_ref() {
                        self.value = Some(ValueCheck::new(&entry, value_ref));
                        break;
                    }
                    let value = Value::parse(entry.tag.kind, entry.value, &mut self.scanner);
                    let fault = value.err();
                    self.end_row(hash, Part::Node(Some(0)), &entry.key, entry.value.len(), fault);
                }
            }
            Ok(Fetch::Here(_)) => {
                let frame = self.stack.pop()?;
                self.edge = Some(frame.last_key);
            }
            // It was sound when it was entered, but cannot be read any more.
            Err(error) => {
                let Frame { level, last_key, left, .. } = self.stack.pop()?;
                self.lose(hash, level, error, &last_key, left);
            }
        }
        None
    }

    const fn pass_remote(&mut self, rows: u64) {
        self.tally.remote_rows += rows;
        self.tally.remote_nodes += 1;
    }

    fn pass_one(&mut self, rows: u64) {
        if let Some(frame) = self.stack.last_mut() {
            frame.next += 1;
            frame.left -= rows;
        }
    }

    fn check_child(
        &mut self,
        cache: &Cache,
        parent: &Inner<'_>,
        index: usize,
        budget: &mut Budget,
    ) -> Option<Want> {
        let child = parent.child(index);
        let reaches_back =
            |node: &Node<'_>| self.edge.as_deref().is_some_and(|edge| node.first_key() <= edge);
        match cache.child(parent, index) {
            Ok(Fetch::At(want)) if want.is_remote() => {
                self.pass_one(child.count);
                self.pass_remote(child.count);
                self.edge = Some(child.key.to_vec());
                budget.spend(256);
            }
            Ok(Fetch::At(want)) => return Some(want),
            Ok(Fetch::Here(node)) if !reaches_back(&node) => {
                let rightmost = self.stack.last().is_some_and(|frame| frame.rightmost)
                    && index + 1 == parent.len();
                self.pass_one(child.count);
                self.enter(cache, child.hash, &node, rightmost, budget);
            }
            result => {
                let order = corrupt(child.hash, Field::KeyOrder, 0, 0);
                self.pass_one(child.count);
                let error = result.err().unwrap_or(order);
                self.lose(child.hash, parent.level() - 1, error, &child.key, child.count);
                budget.spend(256);
            }
        }
        None
    }

    /// Reports a lost node, which covers the keys above the edge and up to `last_key`.
    fn lose(&mut self, hash: Hash, level: u8, error: Error, last_key: &[u8], rows: u64) {
        let last_key = last_key.to_vec();
        let lower = self.edge.take().map_or(Bound::Unbounded, Bound::Excluded);
        let range = Range { lower, upper: Bound::Included(last_key.clone()) };
        self.edge = Some(last_key);
        self.faults.push(Fault { hash, part: Part::Node(Some(level)), error, range, rows });
    }

    /// Reports a fault of the row of one key.
    fn blame(&mut self, hash: Hash, part: Part, error: Error, key: &[u8]) {
        let bound = || Bound::Included(key.to_vec());
        let range = Range { lower: bound(), upper: bound() };
        self.faults.push(Fault { hash, part, error, range, rows: 1 });
    }

    /// Ends the check of a row whose value was read; `fault` is the fault of the value, if any.
    fn end_row(
        &mut self,
        hash: Hash,
        part: Part,
        key: &[u8],
        len: usize,
        fault: Option<ValueFault>,
    ) {
        let part = if fault == Some(OF_FORM) { Part::Form } else { part };
        if fault.is_some() {
            self.blame(hash, part, corrupt(hash, Field::ValueText, 0, len as u64), key);
        }
        self.tally.rows += u64::from(fault.is_none() || part == Part::Form);
    }

    /// Continues with the value that is being checked.
    fn check_value(&mut self, cache: &Cache, budget: &mut Budget) -> Option<Want> {
        let mut value = self.value.take()?;
        match value.step(cache, &mut self.scanner) {
            Checked::Need(id) => {
                self.value = Some(value);
                return Some(id);
            }
            Checked::Read(bytes) => {
                budget.spend(bytes);
                self.tally.bytes += bytes as u64;
                self.value = Some(value);
            }
            Checked::Lost(hash, error) => {
                budget.spend(256);
                self.blame(hash, Part::Value, error, &value.key);
                self.value = Some(value);
            }
            Checked::Parts => {}
            Checked::Whole(fault) => {
                let (hash, len) = (value.value_ref.hash, value.value_ref.len as usize);
                self.end_row(hash, Part::Value, &value.key, len, fault);
                let is_read = fault.is_none_or(|fault| fault == OF_FORM);
                self.tally.values += u64::from(is_read);
            }
        }
        None
    }

    /// Returns up to `most` segments that the walk will need, beginning with `first` if it is given.
    /// Reads only nodes in memory.
    fn wanted(&self, cache: &Cache, first: Option<Want>, most: usize) -> Vec<Want> {
        let mut wanted = SegmentsAhead::new(cache, first, most);
        if let Some(value) = &self.value {
            value.pieces_left().iter().for_each(|hash| wanted.add(hash));
        }
        for frame in self.stack.iter().rev() {
            match cache.node(&frame.hash) {
                Ok(Fetch::Here(Node::Inner(parent))) => wanted.gather(&parent, frame.next),
                Ok(Fetch::Here(Node::Leaf(leaf))) => (frame.next..leaf.len())
                    .filter_map(|index| leaf.entry(index).value_ref())
                    .for_each(|value_ref| wanted.add(&value_ref.hash)),
                _ => {}
            }
        }
        wanted.into_wants()
    }
}
