//! The shape of a tree: the number and the sizes of the nodes of each level.

use crate::cache::{Cache, Fetch};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Numbers for each level: its nodes, their bytes unpacked, the same as they are stored, and the unpacked bytes of the
/// smallest and the largest.
pub const LEVEL_WORDS: usize = 5;

/// The cost of counting a node, in bytes of work.
const LOOK_UP_WORK: usize = 64;
/// The cost of reading a node.
const NODE_WORK: usize = 4096;

/// Counts nodes level by level. Reads internal nodes; for leaves it only looks up their lengths in tables.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{Census, LEVEL_WORDS};
///
/// let (cache, [tree]) = store([&[("ann", "41"), ("bob", "35")]]);
/// let mut census = Census::new(tree);
/// assert_eq!(census.step(&cache, &mut Budget::of(1 << 20)), Ok(Step::Done(())));
/// // The tree is one leaf.
/// assert_eq!((census.levels().len(), census.levels()[0]), (LEVEL_WORDS, 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Census {
    level: Vec<Hash>,
    below: Vec<Hash>,
    /// How many nodes of the level are counted, and how many of them are read.
    counted: usize,
    read: usize,
    /// The level has leaves, which are not read.
    has_leaves: bool,
    /// The last key of the previous node of the level.
    passed: Option<Vec<u8>>,
    levels: Vec<f64>,
}

impl Census {
    /// Begins a census of `tree`.
    #[must_use]
    pub fn new(tree: Tree) -> Self {
        Self {
            level: if tree.is_empty() { Vec::new() } else { Vec::from([tree.root]) },
            below: Vec::new(),
            counted: 0,
            read: 0,
            has_leaves: false,
            passed: None,
            levels: Vec::new(),
        }
    }

    /// Returns [`LEVEL_WORDS`] numbers for each level counted so far, from the top.
    #[must_use]
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// Continues until all levels are counted. Costs a lookup for each node.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        while !self.level.is_empty() {
            if !self.count(cache, budget)? {
                return Ok(Step::Yield);
            }
            while !self.has_leaves
                && let Some(hash) = self.level.get(self.read)
            {
                if budget.is_over(cache) {
                    return Ok(Step::Yield);
                }
                budget.spend(NODE_WORK);
                match cache.node(hash)? {
                    // The nodes below it are not counted.
                    Fetch::At(want) if want.is_remote() => {}
                    Fetch::At(want) => {
                        let hashes = self.level[self.read..].iter();
                        return Ok(Step::Need(cache.ahead(want, hashes)));
                    }
                    // Keys must ascend along a level. Otherwise a few nodes that are named
                    // repeatedly could make the census endless.
                    Fetch::Here(node)
                        if self.passed.as_ref().is_some_and(|key| node.first_key() <= key) =>
                    {
                        let cause = Some(DecodeError::new(Field::KeyOrder, 0, 0, 0));
                        return Err(Error::CorruptChunk { hash: *hash, cause });
                    }
                    Fetch::Here(Node::Leaf(_)) => break,
                    Fetch::Here(Node::Inner(inner)) => {
                        let last = inner.key(inner.len() - 1);
                        self.passed.get_or_insert_default().clear();
                        self.passed.get_or_insert_default().extend_from_slice(last);
                        self.below.extend((0..inner.len()).map(|index| inner.hash(index)));
                        if inner.level() == 1 && self.read + 1 == self.level.len() {
                            self.has_leaves = true;
                            break;
                        }
                    }
                }
                self.read += 1;
            }
            core::mem::swap(&mut self.level, &mut self.below);
            self.below.clear();
            (self.counted, self.read, self.passed) = (0, 0, None);
        }
        Ok(Step::Done(()))
    }

    /// Counts the nodes of the level; returns `false` if the budget was spent before.
    fn count(&mut self, cache: &Cache, budget: &mut Budget) -> Result<bool, Error> {
        while let Some(hash) = self.level.get(self.counted) {
            if budget.is_over(cache) {
                return Ok(false);
            }
            budget.spend(LOOK_UP_WORK);
            let (len, stored_len) = cache.chunk_sizes(hash)?;
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
            let (len, stored_len) = (len as f64, stored_len as f64);
            if self.counted == 0 {
                self.levels.extend([0.0, 0.0, 0.0, len, len]);
            }
            self.counted += 1;
            if let Some([nodes, bytes, stored, least, most]) =
                self.levels.last_chunk_mut::<LEVEL_WORDS>()
            {
                *nodes += 1.0;
                *bytes += len;
                *stored += stored_len;
                *least = least.min(len);
                *most = most.max(len);
            }
        }
        Ok(true)
    }
}
