//! Walks all that a tree reaches, and tells of each fault instead of ending at the first.
//!
//! Each node is held to its hash, its form, what its parent says of it, and the order of keys
//! across nodes; each value out of line to its length and its pieces; each JSON value to the
//! grammar. Where a chunk is damaged or missing, what its parent says of it tells which keys it
//! covers, and the walk goes on beside it. A node whose keys were passed already is a fault,
//! so that each node is entered once, and the walk ends, whatever names it how often.

use crate::cache::{Cache, Fetch, SegmentId};
use crate::chunk::{self, ChunkKind};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::json::skip_value;
use crate::limits::PIECE_BYTES;
use crate::node::{Entry, Inner, Node};
use crate::step::{Budget, Step};
use crate::tree::{Range, Tree, top};
use crate::value::{Far, Kind};
use alloc::vec::Vec;
use core::ops::Bound;

/// Segments asked for at once, and on the way while others are read.
const MOST_AHEAD: usize = 8;

/// Nodes looked into for what is wanted next.
const MOST_LOOKED_INTO: usize = 64;

/// What a damaged chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node, of this level where a parent tells it.
    Node(Option<u8>),
    /// The value of one key, or a part of it.
    Value,
}

/// A chunk that cannot be read, and what is lost with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The chunk.
    pub hash: Hash,
    /// What it is.
    pub part: Part,
    /// What is wrong with it.
    pub error: Error,
    /// The keys that it covers.
    pub range: Range,
    /// So many rows are in the range, as its parent says.
    pub rows: u64,
}

/// What a walk has found sound so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows that can be read whole.
    pub rows: u64,
    /// Nodes.
    pub nodes: u64,
    /// Values out of line.
    pub values: u64,
    /// Bytes of nodes and of values out of line.
    pub bytes: u64,
}

/// A node that the walk is in. It is looked up anew in each step; should it have gone by
/// then, this tells what is lost with the rest of it.
#[derive(Clone, Debug)]
struct Frame {
    hash: Hash,
    level: u8,
    /// The next child or entry.
    next: usize,
    last_key: Vec<u8>,
    /// Rows from `next` on.
    left: u64,
}

#[derive(Clone, Debug)]
struct ValueCheck {
    key: Vec<u8>,
    kind: Kind,
    far: Far,
    pieces: Option<Vec<Hash>>,
    next: usize,
    /// The text so far, of JSON.
    text: Vec<u8>,
    is_sound: bool,
}

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Verify {
    /// Not entered yet.
    tree: Option<Tree>,
    stack: Vec<Frame>,
    value: Option<ValueCheck>,
    /// All keys up to this one are dealt with.
    edge: Option<Vec<u8>>,
    ahead: usize,
    tally: Tally,
    faults: Vec<Fault>,
}

const fn corrupt(hash: Hash, field: Field, expected: u64, got: u64) -> Error {
    Error::CorruptChunk { hash, cause: Some(DecodeError { field, offset: 0, expected, got }) }
}

/// A chunk of this kind, held to what else is known of it.
fn held<'c>(
    cache: &'c Cache,
    hash: &Hash,
    kind: ChunkKind,
    check: impl Fn(&[u8]) -> Result<(), DecodeError>,
) -> Result<Fetch<&'c [u8]>, Error> {
    let fetched = cache.chunk(hash, kind)?;
    if let Fetch::Here(bytes) = fetched {
        check(bytes).map_err(|cause| Error::CorruptChunk { hash: *hash, cause: Some(cause) })?;
    }
    Ok(fetched)
}

fn is_json(text: &[u8]) -> bool {
    skip_value(text, 0) == Ok(text.len())
}

impl ValueCheck {
    fn new(entry: &Entry<'_>, far: Far) -> Self {
        Self {
            key: entry.key.to_vec(),
            kind: entry.tag.kind,
            far,
            pieces: None,
            next: 0,
            text: Vec::new(),
            is_sound: true,
        }
    }
}

impl Verify {
    /// A walk of `tree`.
    #[must_use]
    pub fn new(tree: Tree) -> Self {
        Self {
            tree: (!tree.is_empty()).then_some(tree),
            stack: Vec::new(),
            value: None,
            edge: None,
            ahead: 1,
            tally: Tally::default(),
            faults: Vec::new(),
        }
    }

    /// What was found sound so far.
    #[must_use]
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Takes the faults found since the last call, in the order of keys.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        core::mem::take(&mut self.faults)
    }

    /// The segments that the walk will want next and that are not in memory.
    #[must_use]
    pub fn ahead(&self, cache: &Cache) -> Vec<SegmentId> {
        if self.ahead < MOST_AHEAD.min(cache.window()) {
            return Vec::new();
        }
        self.wanted(cache, None, self.ahead / 2)
    }

    /// Goes on until all is walked. It never fails: see [`Verify::take_faults`]. Costs a pass
    /// over all bytes, and holds the largest JSON value out of line.
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Step<()> {
        loop {
            if budget.is_spent() {
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

    fn start(&mut self, cache: &Cache, tree: Tree, budget: &mut Budget) -> Option<SegmentId> {
        match top(cache, tree) {
            Ok(Fetch::At(id)) => return Some(id),
            Ok(Fetch::Here(node)) => self.enter(cache, tree.root, &node, budget),
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

    fn enter(&mut self, cache: &Cache, hash: Hash, node: &Node<'_>, budget: &mut Budget) {
        let len = cache.chunk_len(&hash).unwrap_or(0);
        budget.spend(len);
        self.tally.nodes += 1;
        self.tally.bytes += len as u64;
        self.stack.push(Frame {
            hash,
            level: node.level(),
            next: 0,
            last_key: node.last_key().to_vec(),
            left: node.total(),
        });
    }

    /// Goes on in the node that the walk is in.
    fn go_on(&mut self, cache: &Cache, budget: &mut Budget) -> Option<SegmentId> {
        let frame = self.stack.last()?;
        let (hash, index) = (frame.hash, frame.next);
        match cache.node(&hash) {
            Ok(Fetch::At(id)) => return Some(id),
            Ok(Fetch::Here(Node::Inner(parent))) if index < parent.len() => {
                return self.check_child(cache, &parent, index, budget);
            }
            Ok(Fetch::Here(Node::Leaf(leaf))) if index < leaf.len() => {
                for entry in (index..leaf.len()).map(|index| leaf.entry(index)) {
                    self.pass_one(1);
                    budget.spend(entry.value.len() + 16);
                    if let Some(far) = entry.far() {
                        self.value = Some(ValueCheck::new(&entry, far));
                        break;
                    } else if entry.tag.kind == Kind::Json && !is_json(entry.value) {
                        let error = corrupt(hash, Field::ValueText, 0, entry.value.len() as u64);
                        self.blame(hash, Part::Node(Some(0)), error, entry.key);
                    } else {
                        self.tally.rows += 1;
                    }
                }
            }
            Ok(Fetch::Here(_)) => {
                let frame = self.stack.pop()?;
                self.edge = Some(frame.last_key);
            }
            // It was sound when it was entered, and is not any more.
            Err(error) => {
                let Frame { level, last_key, left, .. } = self.stack.pop()?;
                self.lose(hash, level, error, &last_key, left);
            }
        }
        None
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
    ) -> Option<SegmentId> {
        let child = parent.child(index);
        let reaches_back =
            |node: &Node<'_>| self.edge.as_deref().is_some_and(|edge| node.first_key() <= edge);
        match cache.child(parent, index) {
            Ok(Fetch::At(id)) => return Some(id),
            Ok(Fetch::Here(node)) if !reaches_back(&node) => {
                self.pass_one(child.count);
                self.enter(cache, child.hash, &node, budget);
            }
            result => {
                let order = corrupt(child.hash, Field::KeyOrder, 0, 0);
                self.pass_one(child.count);
                let error = result.err().unwrap_or(order);
                self.lose(child.hash, parent.level() - 1, error, child.key, child.count);
                budget.spend(256);
            }
        }
        None
    }

    /// All rows above the edge and up to `last_key` are lost with a node.
    fn lose(&mut self, hash: Hash, level: u8, error: Error, last_key: &[u8], rows: u64) {
        let last_key = last_key.to_vec();
        let lower = self.edge.take().map_or(Bound::Unbounded, Bound::Excluded);
        let range = Range { lower, upper: Bound::Included(last_key.clone()) };
        self.edge = Some(last_key);
        self.faults.push(Fault { hash, part: Part::Node(Some(level)), error, range, rows });
    }

    /// The row of one key is lost.
    fn blame(&mut self, hash: Hash, part: Part, error: Error, key: &[u8]) {
        let bound = || Bound::Included(key.to_vec());
        let range = Range { lower: bound(), upper: bound() };
        self.faults.push(Fault { hash, part, error, range, rows: 1 });
    }

    /// Checks the list of a value's pieces, or its next piece.
    fn check_value(&mut self, cache: &Cache, budget: &mut Budget) -> Option<SegmentId> {
        let mut value = self.value.take()?;
        let len = value.far.len as usize;
        let (hash, result) = match &value.pieces {
            None if chunk::pieces_of(len) == 1 => {
                value.pieces = Some(Vec::from([value.far.hash]));
                self.value = Some(value);
                return None;
            }
            None => {
                let check = |bytes: &[u8]| chunk::piece_list(bytes, len).map(drop);
                (value.far.hash, held(cache, &value.far.hash, ChunkKind::PieceList, check))
            }
            Some(pieces) => {
                let Some(hash) = pieces.get(value.next) else {
                    self.end_value(&value);
                    return None;
                };
                let check = |bytes: &[u8]| {
                    let part = chunk::piece(bytes)?;
                    let expected = (len - value.next * PIECE_BYTES).min(PIECE_BYTES) as u64;
                    let got = part.len() as u64;
                    let error = DecodeError { field: Field::Length, offset: 2, expected, got };
                    if got == expected { Ok(()) } else { Err(error) }
                };
                (*hash, held(cache, hash, ChunkKind::Piece, check))
            }
        };
        let is_list = value.pieces.is_none();
        match result {
            Ok(Fetch::At(id)) => {
                self.value = Some(value);
                return Some(id);
            }
            Ok(Fetch::Here(bytes)) => {
                budget.spend(bytes.len());
                self.tally.bytes += bytes.len() as u64;
                if is_list {
                    value.pieces = chunk::piece_list(bytes, len).ok();
                } else {
                    if value.kind == Kind::Json && value.is_sound {
                        value.text.extend_from_slice(chunk::piece(bytes).unwrap_or_default());
                    }
                    value.next += 1;
                }
            }
            Err(error) => {
                budget.spend(256);
                self.blame(hash, Part::Value, error, &value.key);
                value.is_sound = false;
                value.text = Vec::new();
                if is_list {
                    value.pieces = Some(Vec::new());
                } else {
                    value.next += 1;
                }
            }
        }
        self.value = Some(value);
        None
    }

    fn end_value(&mut self, value: &ValueCheck) {
        if !value.is_sound {
            return;
        }
        if value.kind == Kind::Json && !is_json(&value.text) {
            let hash = value.far.hash;
            let error = corrupt(hash, Field::ValueText, 0, value.far.len.into());
            self.blame(hash, Part::Value, error, &value.key);
            return;
        }
        self.tally.rows += 1;
        self.tally.values += 1;
    }

    /// Up to `most` segments that the walk will want, `first` the first of them if it is known.
    /// Looks only at nodes in memory.
    fn wanted(&self, cache: &Cache, first: Option<SegmentId>, most: usize) -> Vec<SegmentId> {
        let mut wanted = Wanted { cache, ids: Vec::from_iter(first), most, looked_into: 0 };
        if let Some(value) = &self.value {
            let pieces = value.pieces.as_deref().unwrap_or_default();
            pieces.iter().skip(value.next).for_each(|hash| wanted.add(hash));
        }
        for frame in self.stack.iter().rev() {
            match cache.node(&frame.hash) {
                Ok(Fetch::Here(Node::Inner(parent))) => wanted.gather(&parent, frame.next),
                Ok(Fetch::Here(Node::Leaf(leaf))) => (frame.next..leaf.len())
                    .filter_map(|index| leaf.entry(index).far())
                    .for_each(|far| wanted.add(&far.hash)),
                _ => {}
            }
        }
        wanted.ids
    }
}

struct Wanted<'c> {
    cache: &'c Cache,
    ids: Vec<SegmentId>,
    most: usize,
    looked_into: usize,
}

impl Wanted<'_> {
    fn add(&mut self, hash: &Hash) {
        if self.ids.len() < self.most
            && let Ok(Some(id)) = self.cache.missing(hash)
            && !self.ids.contains(&id)
        {
            self.ids.push(id);
        }
    }

    /// Adds what the children from `at` on need, and those below them that are in memory.
    fn gather(&mut self, parent: &Inner<'_>, at: usize) {
        for index in at..parent.len() {
            if self.ids.len() >= self.most || self.looked_into >= MOST_LOOKED_INTO {
                return;
            }
            self.add(&parent.hash(index));
            if parent.level() > 1
                && let Ok(Fetch::Here(Node::Inner(child))) = self.cache.child(parent, index)
            {
                self.looked_into += 1;
                self.gather(&child, 0);
            }
        }
    }
}
