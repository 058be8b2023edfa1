//! Merges a batch into a sum tree, in one descent.
//!
//! First it opens all pieces that the batch leads into, level by level. Then it changes the trie in
//! memory: each branch splits the edits between its two sides by their next bit, and the sums are
//! checked. Then it hashes new leaves and branches, and only then makes chunks (`fresh.rs`): a merge
//! that fails stores no chunks.

use crate::batch::SumBatch;
use crate::fresh::Fresh;
use crate::piece::{INLINE_BYTES, ref_and_hash};
use crate::rules::{DEPTH, Rules, bit, common, leaf};
use crate::trie::{Held, Kind, NONE, Node, Root, Trie};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Want};
use hedgerow_trees::error::Error;
use hedgerow_trees::segment::Packer;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

#[derive(Clone, Copy, Debug)]
enum Task {
    /// Merge these edits into the subtree of a node.
    Visit { node: u32, from: u32, to: u32 },
    /// Join the last two results into a branch, which may equal the old one.
    Join { old: u32, depth: u16 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Sort,
    Read,
    Change,
    Leaves,
    Chains,
    Branches,
    Chunks,
    Done,
}

/// Merges a batch into a sum tree, in one descent.
///
/// ```
/// use hedgerow_sums::{Rules, SumBatch, SumMerge, key_of};
/// use hedgerow_trees::cache::Cache;
/// use hedgerow_trees::segment::Packer;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::Tree;
///
/// let mut batch = SumBatch::new();
/// batch.put(&key_of(b"ann"), b"a value", 41)?;
/// batch.put(&key_of(b"bob"), b"another", 35)?;
/// let mut merge = SumMerge::new(&Rules::new(), Tree::EMPTY, batch);
/// let mut packer = Packer::new();
/// let step = merge.step(&Cache::default(), &mut Budget::of(1 << 20), &mut packer)?;
/// assert_eq!(step, Step::Done(()));
/// let (tree, root) = merge.made();
/// assert_eq!((tree.count, root.sum), (2, 76));
/// # Ok::<(), hedgerow_trees::error::Error>(())
/// ```
#[derive(Debug)]
pub struct SumMerge {
    tree: Tree,
    batch: SumBatch,
    trie: Trie,
    phase: Phase,
    tasks: Vec<Task>,
    results: Vec<u32>,
    fresh: Fresh,
    added: u64,
    removed: u64,
    before: u64,
}

impl SumMerge {
    /// Begins a merge of `batch` into `tree`.
    #[must_use]
    pub fn new(rules: &Rules, tree: Tree, batch: SumBatch) -> Self {
        Self {
            tree,
            batch,
            trie: Trie::new(rules.clone()),
            phase: Phase::Sort,
            tasks: Vec::new(),
            results: Vec::new(),
            fresh: Fresh::default(),
            added: 0,
            removed: 0,
            before: 0,
        }
    }

    /// Returns the new tree and its root, once it is done.
    #[must_use]
    pub fn made(&self) -> (Tree, Root) {
        (self.tree, self.trie.total())
    }

    /// Continues. Chunks are packed only in the last steps, which cannot fail.
    ///
    /// # Errors
    /// [`Error::SumOverflow`], [`Error::SumKeyTwice`], and as [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        packer: &mut Packer,
    ) -> Result<Step<()>, Error> {
        loop {
            let step = match self.phase {
                Phase::Sort => self.batch.sort(budget),
                Phase::Read => self.trie.reach(cache, budget, self.tree, self.batch.paths()),
                Phase::Change => self.change(cache, budget),
                Phase::Leaves => Ok(self.fresh.list_leaves(&self.trie, budget)),
                Phase::Chains => Ok(self.fresh.hash_leaves(&mut self.trie, budget)),
                Phase::Branches => Ok(self.fresh.hash_branches(&mut self.trie, budget)),
                Phase::Chunks => Ok(self.fresh.pack(&mut self.trie, budget, packer)),
                Phase::Done => return Ok(Step::Done(())),
            };
            match step? {
                Step::Done(()) => self.advance()?,
                waiting => return Ok(waiting),
            }
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.fresh.next = 0;
        self.phase = match self.phase {
            Phase::Sort => Phase::Read,
            Phase::Read => {
                let node = self.trie.root;
                self.before = if node == NONE { 0 } else { self.trie.node(node).sum };
                let to = self.batch.paths().len() as u32;
                self.tasks.push(Task::Visit { node, from: 0, to });
                Phase::Change
            }
            Phase::Change => {
                let root = self.results.pop().unwrap_or(NONE);
                // `added` and `removed` count the changes of the batch only.
                let grows = self.added.saturating_sub(self.removed);
                if self.before.checked_add(grows).is_none() {
                    return Err(Error::SumOverflow);
                }
                let is_same = root == self.trie.root;
                self.trie.root = root;
                if is_same { Phase::Done } else { Phase::Leaves }
            }
            Phase::Leaves => Phase::Chains,
            Phase::Chains => Phase::Branches,
            Phase::Branches => Phase::Chunks,
            Phase::Chunks => {
                self.tree = self.fresh.tree;
                Phase::Done
            }
            Phase::Done => Phase::Done,
        };
        Ok(())
    }

    /// Changes the trie, without hashing.
    fn change(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        while let Some(task) = self.tasks.pop() {
            if budget.is_over(cache) {
                self.tasks.push(task);
                return Ok(Step::Yield);
            }
            budget.spend(64);
            match task {
                Task::Visit { node, from, to } => self.visit(node, from, to)?,
                Task::Join { old, depth } => {
                    let right = self.results.pop().unwrap_or(NONE);
                    let left = self.results.pop().unwrap_or(NONE);
                    if let Some(missing) = self.join(cache, old, depth, left, right)? {
                        self.results.extend([left, right]);
                        self.tasks.push(task);
                        return Ok(Step::Need(missing));
                    }
                }
            }
        }
        // The root must not be a link, because the top contains its records.
        if let Some(root) = self.results.last()
            && *root != NONE
            && let Some(id) = self.open(cache, *root)?
        {
            return Ok(Step::Need(Vec::from([id.whole()])));
        }
        Ok(Step::Done(()))
    }

    fn open(&mut self, cache: &Cache, at: u32) -> Result<Option<Want>, Error> {
        if matches!(self.trie.node(at).kind, Kind::Link) {
            self.trie.open(cache, at)
        } else {
            Ok(None)
        }
    }

    /// Joins two results, either of which may be empty. Opens pieces that are no longer cut off; returns
    /// the segments that must be loaded first.
    fn join(
        &mut self,
        cache: &Cache,
        old: u32,
        depth: u16,
        left: u32,
        right: u32,
    ) -> Result<Option<Vec<Want>>, Error> {
        let joined = if left == NONE || right == NONE {
            left.min(right)
        } else if old != NONE
            && let Kind::Branch { left: a, right: b } = self.trie.node(old).kind
            && (a, b) == (left, right)
        {
            old
        } else {
            let cuts = self.trie.cuts(left, right);
            let mut missing = Vec::new();
            for (at, cut) in [(left, cuts.0), (right, cuts.1)] {
                if !cut
                    && let Some(id) = self.open(cache, at)?
                    && !missing.contains(&id.whole())
                {
                    missing.push(id.whole());
                }
            }
            if !missing.is_empty() {
                return Ok(Some(missing));
            }
            let made = self.trie.join(depth, left, right)?;
            self.fresh.branches.push(made);
            made
        };
        self.results.push(joined);
        Ok(None)
    }

    fn visit(&mut self, node: u32, from: u32, to: u32) -> Result<(), Error> {
        if from == to {
            self.results.push(node);
            return Ok(());
        }
        let paths = &self.batch.paths()[from as usize..to as usize];
        if node == NONE {
            // Put the first leaf, and then merge the other edits into it.
            let put = (from..to).find(|at| !self.batch.edit(*at).0.deletes());
            let Some(put) = put else {
                self.results.push(NONE);
                return Ok(());
            };
            let node = self.put(put)?;
            self.tasks.push(Task::Visit { node, from: put + 1, to });
            return Ok(());
        }
        let Node { path, depth, kind, .. } = *self.trie.node(node);
        // The depth of the first bit in which a path differs from the node. As paths ascend, one of the two
        // ends has the lowest.
        let parts = common(&paths[0], &path).min(common(&paths[paths.len() - 1], &path));
        if parts == DEPTH && depth == DEPTH {
            let node = self.replace(node, from)?;
            self.results.push(node);
            return Ok(());
        }
        let (old, depth, left, right) = match kind {
            Kind::Branch { left, right } if parts >= depth => (node, depth, left, right),
            _ if bit(&path, parts) => (NONE, parts, NONE, node),
            _ => (NONE, parts, node, NONE),
        };
        let middle = from + paths.partition_point(|path| !bit(path, depth)) as u32;
        self.tasks.push(Task::Join { old, depth });
        self.tasks.push(Task::Visit { node: right, from: middle, to });
        self.tasks.push(Task::Visit { node: left, from, to: middle });
        Ok(())
    }

    /// Adds the leaf that the edit at `at` puts.
    fn put(&mut self, at: u32) -> Result<u32, Error> {
        let (edit, value) = self.batch.edit(at);
        let held = if value.len() > INLINE_BYTES { Held::New } else { Held::Inline };
        self.added = self.added.checked_add(edit.sum).ok_or(Error::SumOverflow)?;
        Ok(self.trie.leaf(self.batch.paths()[at as usize], edit.sum, held, value))
    }

    /// Applies the edit at `at` to the leaf at `node`, which has the same key.
    fn replace(&mut self, node: u32, at: u32) -> Result<u32, Error> {
        let (edit, value) = self.batch.edit(at);
        if edit.is_new {
            return Err(Error::SumKeyTwice);
        }
        let old = *self.trie.node(node);
        let is_same = old.sum == edit.sum && {
            let (held, stored) = self.trie.value(&old);
            match held {
                Held::Ref => {
                    let (address, hash) = ref_and_hash(stored);
                    address.len as usize == value.len() && hash == leaf(value, edit.sum)
                }
                _ => stored == value,
            }
        };
        if is_same {
            return Ok(node);
        }
        // This cannot overflow: all removed leaves are of one tree.
        self.removed = self.removed.saturating_add(old.sum);
        if edit.deletes() { Ok(NONE) } else { self.put(at) }
    }

    /// Takes the batch, sorted, for another merge.
    pub fn take_batch(&mut self) -> SumBatch {
        core::mem::take(&mut self.batch)
    }
}
