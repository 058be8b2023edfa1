//! The shape of a tree: the number and the sizes of the nodes of each level.

use crate::cache::{Cache, Fetch};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Numbers for each level: its nodes, their bytes, and the bytes of the smallest and the largest.
pub const LEVEL_WORDS: usize = 4;

/// Counts nodes level by level. Reads internal nodes; for leaves it only looks up their lengths.
#[derive(Clone, Debug)]
pub struct Census {
    level: Vec<Hash>,
    below: Vec<Hash>,
    at: usize,
    counted: bool,
    /// The last key of the previous node of the level.
    passed: Option<Vec<u8>>,
    levels: Vec<f64>,
}

impl Census {
    /// A census of `tree`.
    #[must_use]
    pub fn new(tree: Tree) -> Self {
        let level = if tree.is_empty() { Vec::new() } else { Vec::from([tree.root]) };
        Self { level, below: Vec::new(), at: 0, counted: false, passed: None, levels: Vec::new() }
    }

    /// [`LEVEL_WORDS`] numbers for each level counted so far, from the top.
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
            if !self.counted {
                self.count(cache)?;
                self.counted = true;
            }
            while let Some(hash) = self.level.get(self.at) {
                if budget.is_spent() {
                    return Ok(Step::Yield);
                }
                budget.spend(4096);
                match cache.node(hash)? {
                    // What is below it is not counted.
                    Fetch::At(want) if want.is_remote() => {}
                    Fetch::At(want) => {
                        let hashes = self.level[self.at..].iter();
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
                        if inner.level() == 1 && self.at + 1 == self.level.len() {
                            // The next level is that of leaves, which are not read.
                            core::mem::swap(&mut self.level, &mut self.below);
                            self.count(cache)?;
                            self.level.clear();
                            return Ok(Step::Done(()));
                        }
                    }
                }
                self.at += 1;
            }
            core::mem::swap(&mut self.level, &mut self.below);
            self.below.clear();
            (self.at, self.counted, self.passed) = (0, false, None);
        }
        Ok(Step::Done(()))
    }

    fn count(&mut self, cache: &Cache) -> Result<(), Error> {
        let (mut bytes, mut least, mut most) = (0, usize::MAX, 0);
        for hash in &self.level {
            let len = cache.chunk_len(hash)?;
            bytes += len;
            least = least.min(len);
            most = most.max(len);
        }
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        self.levels.extend([self.level.len(), bytes, least, most].map(|number| number as f64));
        Ok(())
    }
}
