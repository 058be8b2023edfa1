//! Builds a tree bottom-up, in one pass, from entries in ascending order of their keys.
//!
//! Each level has a window: the node that is being built. When an entry ends a node, the window is
//! packed, and the node becomes an entry of the window above. If all windows below a level are
//! empty, a whole subtree of an older tree can be relinked by its hash instead. The builder would
//! make the same nodes, because only the entries of a node decide where it ends (see
//! [`boundary`](crate::boundary)).

use crate::boundary::Shape;
use crate::chunk::ChunkKind;
use crate::key::Key;
use crate::le::u16_at;
use crate::node::{
    CHILD_BYTES, Child, Entry, KEY_LENGTH_MASK, Leaf, NODE_HEADER_BYTES, RECORD_BYTES, record_head,
    within_node,
};
use crate::segment::{Packer, Stream};
use crate::step::Budget;
use crate::tree::Tree;
use crate::tree::value::ValueWriter;
use crate::value::{Tag, Value};
use alloc::vec::Vec;
use core::ops::Range;

/// The leaf that is being built.
#[derive(Debug, Default)]
struct LeafWindow {
    ends: Vec<u16>,
    records: Vec<u8>,
}

/// The internal node that is being built.
#[derive(Debug, Default)]
struct InnerWindow {
    ends: Vec<u16>,
    counts: Vec<u64>,
    hashes: Vec<u8>,
    keys: Vec<u8>,
}

/// The finished nodes of a level.
#[derive(Clone, Copy, Debug, Default)]
struct Emitted {
    nodes: u64,
    last: Tree,
    /// The last node comes from an older tree.
    relinked: bool,
}

/// The result of [`Builder::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The tree.
    pub tree: Tree,
    /// The level of its top node.
    pub level: usize,
    /// Whether its top node comes from an older tree, so that it may have a single child.
    pub relinked: bool,
}

/// Builds a tree bottom-up, in one pass, from entries in ascending order of their keys.
///
/// ```
/// use hedgerow_trees::boundary::Shape;
/// use hedgerow_trees::key::Key;
/// use hedgerow_trees::tree::Builder;
/// use hedgerow_trees::value::{Kind, Value};
///
/// let mut builder = Builder::new(Shape::STORED);
/// for (key, json) in [("ann", "41"), ("bob", "35")] {
///     builder.push(Key::trusted(key.as_bytes()), Value::trusted(Kind::Json, json.as_bytes()));
/// }
/// assert_eq!(builder.finish().tree.count, 2);
/// builder.packer().seal();
/// assert_eq!(builder.packer().take_sealed().len(), 1);
/// ```
#[derive(Debug)]
pub struct Builder {
    shape: Shape,
    leaf: LeafWindow,
    inner: Vec<InnerWindow>,
    emitted: Vec<Emitted>,
    packer: Packer,
    /// Writes the value of the entry that is being pushed.
    writer: ValueWriter,
}

impl LeafWindow {
    /// Returns the bytes of the entries so far, as the boundary function counts them.
    fn entries_len(&self) -> usize {
        2 * self.ends.len() + self.records.len()
    }

    /// Returns where the key of the entry at `index` is in the records.
    fn key_range(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { usize::from(self.ends[index - 1]) };
        let head = u16_at(&self.records, start);
        let key = start + RECORD_BYTES;
        key..key + usize::from(head & KEY_LENGTH_MASK)
    }

    /// Closes the entry whose record was just appended at `start`; returns whether it ends the node.
    fn close(&mut self, shape: Shape, key_len: usize, start: usize) -> bool {
        let from = 2 * self.ends.len() + start;
        self.ends.push(within_node(self.records.len()));
        let key = start + RECORD_BYTES;
        let key = &self.records[key..key + key_len];
        shape.ends(0, key, from, self.entries_len(), self.ends.len())
    }
}

impl InnerWindow {
    /// Adds a child of a node of `level`; returns whether it ends the node.
    fn push(&mut self, shape: Shape, level: u8, child: &Child<'_>) -> bool {
        let from = CHILD_BYTES * self.ends.len() + self.keys.len();
        self.keys.extend_from_slice(&child.key);
        self.ends.push(within_node(self.keys.len()));
        self.counts.push(self.counts.last().copied().unwrap_or(0) + child.count);
        self.hashes.extend_from_slice(&child.hash.0);
        let to = from + CHILD_BYTES + child.key.len();
        shape.ends(level, &child.key, from, to, self.ends.len())
    }

    fn last_key(&self) -> &[u8] {
        let ends = &self.ends;
        let start = if ends.len() < 2 { 0 } else { ends[ends.len() - 2].into() };
        &self.keys[start..]
    }
}

impl Builder {
    /// Makes a builder for a tree of `shape`, which is [`Shape::STORED`] except in tests.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            leaf: LeafWindow::default(),
            inner: Vec::new(),
            emitted: Vec::new(),
            packer: Packer::new(),
            writer: ValueWriter::default(),
        }
    }

    /// Returns the segments made so far.
    pub const fn packer(&mut self) -> &mut Packer {
        &mut self.packer
    }

    /// Gives up the builder for the segments that it made.
    #[must_use]
    pub fn into_packer(self) -> Packer {
        self.packer
    }

    /// Adds an entry. `key` must sort after all keys before. Costs a copy of both.
    pub fn push(&mut self, key: Key<'_>, value: Value<'_>) {
        self.push_some(key, value, &mut Budget::of(usize::MAX));
    }

    /// Adds an entry as [`Builder::push`]; returns `false` if the budget ended before a long value was
    /// written. Then call it again with the same entry, before any other.
    pub fn push_some(&mut self, key: Key<'_>, value: Value<'_>, budget: &mut Budget) -> bool {
        let (tag, value) = (Tag::of(value), value.bytes());
        if !tag.is_ref {
            self.push_entry(&Entry { key, tag, value });
            return true;
        }
        let Some(value_ref) = self.writer.step(&mut self.packer, value, budget) else {
            return false;
        };
        self.push_entry(&Entry { key, tag, value: &value_ref.bytes() });
        true
    }

    /// Adds an entry of a leaf.
    pub fn push_entry(&mut self, entry: &Entry<'_>) {
        let leaf = &mut self.leaf;
        let start = leaf.records.len();
        leaf.records.extend_from_slice(&record_head(entry.key, entry.tag));
        leaf.records.extend_from_slice(&entry.key);
        leaf.records.extend_from_slice(entry.value);
        if leaf.close(self.shape, entry.key.len(), start) {
            self.emit_leaf();
        }
    }

    /// Adds the entries `from..to` of a leaf of a tree with the same shape. An entry in the middle of that
    /// leaf did not end it, and so does not end a leaf in which it is not further back. In that case all
    /// of them are copied at once.
    pub fn push_run(&mut self, source: &Leaf<'_>, from: usize, to: usize) {
        let leaf = &mut self.leaf;
        let middle = to.min(source.len() - 1).max(from);
        let mut at = from;
        let no_later = leaf.entries_len() <= source.offset(from);
        // A leaf may come from another encoder: copy no more than fits.
        if no_later && source.offset(middle) < self.shape.full as usize {
            let (base, skipped) = (leaf.records.len(), source.end(from));
            leaf.records.extend_from_slice(source.records(from, middle));
            while at < middle {
                at += 1;
                leaf.ends.push(within_node(base + source.end(at) - skipped));
            }
        }
        for index in at..to {
            self.push_entry(&source.entry(index));
        }
    }

    /// Returns whether a node of `level` of an older tree can be relinked now.
    #[must_use]
    pub fn is_clean(&self, level: u8) -> bool {
        let below = usize::from(level).min(self.inner.len());
        self.leaf.ends.is_empty() && self.inner[..below].iter().all(|w| w.ends.is_empty())
    }

    /// Adds a whole subtree, whose top node has `level`, of a tree with the same shape.
    /// [`Builder::is_clean`] must be true for `level`. The node must not be the last of its level in the
    /// older tree, unless no entry is added after it.
    pub fn relink(&mut self, level: u8, child: &Child<'_>) {
        debug_assert!(self.is_clean(level), "a subtree is relinked in the middle of a node");
        let level = usize::from(level);
        if self.emitted.len() <= level {
            self.emitted.resize(level + 1, Emitted::default());
        }
        // The number of nodes below is unknown; with two or more, the root cannot be one of them.
        for emitted in &mut self.emitted[..level] {
            emitted.nodes += 2;
        }
        self.add_node(level, child);
        self.emitted[level].relinked = true;
    }

    /// Counts a node of `level` and adds it to the level above.
    fn add_node(&mut self, level: usize, child: &Child<'_>) {
        if self.emitted.len() <= level {
            self.emitted.resize(level + 1, Emitted::default());
        }
        self.emitted[level].nodes += 1;
        self.emitted[level].last = Tree { root: child.hash, count: child.count };
        self.emitted[level].relinked = false;
        while self.inner.len() <= level {
            self.inner.push(InnerWindow::default());
        }
        if self.inner[level].push(self.shape, level as u8 + 1, child) {
            self.emit_inner(level);
        }
    }

    fn emit_leaf(&mut self) {
        let leaf = &mut self.leaf;
        let count = leaf.ends.len();
        let hash = self.packer.put(Stream::Leaf, |out| {
            let [kind, version] = ChunkKind::Node(0).header();
            let [low, high] = within_node(count).to_le_bytes();
            let start = out.len() + NODE_HEADER_BYTES;
            out.resize(start + 2 * count, 0);
            out[start - NODE_HEADER_BYTES..start].copy_from_slice(&[kind, version, low, high]);
            for (slot, end) in out[start..].chunks_exact_mut(2).zip(&leaf.ends) {
                slot.copy_from_slice(&end.to_le_bytes());
            }
            out.extend_from_slice(&leaf.records);
        });
        // `add_node` needs the key and all of `self`: take the records out.
        let last_key = leaf.key_range(count - 1);
        leaf.ends.clear();
        let mut records = core::mem::take(&mut leaf.records);
        let key = Key::trusted(&records[last_key]);
        self.add_node(0, &Child { key, hash, count: count as u64 });
        records.clear();
        self.leaf.records = records;
    }

    fn emit_inner(&mut self, index: usize) {
        let window = &mut self.inner[index];
        let count = window.ends.len();
        let level = index as u8 + 1;
        let hash = self.packer.put(Stream::Inner, |out| {
            out.extend_from_slice(&ChunkKind::Node(level).header());
            out.extend_from_slice(&within_node(count).to_le_bytes());
            window.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
            window.counts.iter().for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
            out.extend_from_slice(&window.hashes);
            out.extend_from_slice(&window.keys);
        });
        let total = window.counts.last().copied().unwrap_or(0);
        let key_start = window.keys.len() - window.last_key().len();
        window.ends.clear();
        window.counts.clear();
        window.hashes.clear();
        let mut keys = core::mem::take(&mut window.keys);
        let key = Key::trusted(&keys[key_start..]);
        self.add_node(index + 1, &Child { key, hash, count: total });
        keys.clear();
        self.inner[index].keys = keys;
    }

    /// Ends the tree. The builder is then ready for another one; its packer is not sealed.
    pub fn finish(&mut self) -> Finished {
        let mut level = 0;
        let finished = loop {
            if level == 0 {
                if !self.leaf.ends.is_empty() {
                    self.emit_leaf();
                }
            } else if self.inner.get(level - 1).is_some_and(|window| !window.ends.is_empty()) {
                self.emit_inner(level - 1);
            }
            match self.emitted.get(level) {
                None => break Finished { tree: Tree::EMPTY, level, relinked: false },
                Some(&Emitted { nodes: 1, last: tree, relinked }) => {
                    break Finished { tree, level, relinked };
                }
                Some(_) => level += 1,
            }
        };
        for window in &mut self.inner {
            window.ends.clear();
            window.counts.clear();
            window.hashes.clear();
            window.keys.clear();
        }
        self.emitted.clear();
        finished
    }
}
