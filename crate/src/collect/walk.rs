//! Walks all that commits reach. Internal nodes are read and leaves are only named, so that
//! the walk costs a hundredth of the store; leaves are read when their values are asked for.

use super::marks::Marks;
use super::pieces::names;
use crate::cache::{Cache, Fetch};
use crate::chunk;
use crate::error::Error;
use crate::forest::{Forest, SUMS};
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::value::Far;
use alloc::vec::Vec;

/// What reading a node counts as, in bytes of work.
const NODE_WORK: usize = 4096;

/// See the module's text.
#[derive(Debug, Default)]
pub struct Walk {
    commits: Vec<Hash>,
    /// Pieces of sum trees, to be read.
    pieces: Vec<Hash>,
    /// Values that they hold out of line.
    fars: Vec<Far>,
    /// Nodes of a level, to be read, and how many of them were.
    level: Vec<Hash>,
    at: usize,
    below: Vec<Hash>,
    /// In the order of their keys, tree by tree.
    leaves: Vec<Hash>,
    leaves_read: usize,
    /// Lists of pieces to be read, with the lengths of their values.
    lists: Vec<(Hash, usize)>,
}

impl Walk {
    /// Adds a commit; nothing for [`Hash::ZERO`].
    pub fn add(&mut self, commit: Hash) {
        if commit != Hash::ZERO {
            self.commits.push(commit);
        }
    }

    /// Marks commits and nodes.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn nodes(
        &mut self,
        cache: &Cache,
        marks: &mut Marks,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while let Some(hash) = self.commits.last() {
            let check = |bytes: &[u8]| Forest::decode(bytes).map(|_| ());
            let bytes = match cache.chunk(hash, check)? {
                Fetch::At(id) => return Ok(Step::Need(Vec::from([id]))),
                Fetch::Here(bytes) => bytes,
            };
            if marks.mark(cache, hash)? {
                for named in Forest::decode(bytes).unwrap_or_default().trees() {
                    let root = named.tree.root;
                    if !named.tree.is_empty() && marks.mark(cache, &root)? {
                        let is_sum = named.name.kind() == Some(SUMS);
                        if is_sum { &mut self.pieces } else { &mut self.level }.push(root);
                    }
                }
            }
            self.commits.pop();
        }
        while let Some(hash) = self.pieces.last() {
            if budget.is_spent() {
                return Ok(Step::Yield);
            }
            let check = |bytes: &[u8]| chunk::ChunkKind::decode(bytes).map(|_| ());
            let piece = match cache.chunk(hash, check)? {
                Fetch::At(id) => return Ok(Step::Need(cache.ahead(id, self.pieces.iter().rev())?)),
                Fetch::Here(piece) => piece,
            };
            self.pieces.pop();
            let mut below = Vec::new();
            names(piece, |hash, far| match far {
                Some(far) => self.fars.push(far),
                None => below.push(hash),
            });
            for hash in below.iter().rev() {
                if marks.mark(cache, hash)? {
                    self.pieces.push(*hash);
                }
            }
            budget.spend(NODE_WORK);
        }
        loop {
            while let Some(hash) = self.level.get(self.at) {
                if budget.is_spent() {
                    return Ok(Step::Yield);
                }
                match cache.node(hash)? {
                    Fetch::At(id) => {
                        return Ok(Step::Need(cache.ahead(id, self.level[self.at..].iter())?));
                    }
                    Fetch::Here(Node::Leaf(_)) => self.leaves.push(*hash),
                    Fetch::Here(Node::Inner(inner)) => {
                        let next =
                            if inner.level() == 1 { &mut self.leaves } else { &mut self.below };
                        for index in 0..inner.len() {
                            let child = inner.hash(index);
                            if marks.mark(cache, &child)? {
                                next.push(child);
                            }
                        }
                    }
                }
                self.at += 1;
                budget.spend(NODE_WORK);
            }
            if self.below.is_empty() {
                return Ok(Step::Done(()));
            }
            core::mem::swap(&mut self.level, &mut self.below);
            self.below.clear();
            self.at = 0;
        }
    }

    /// Marks the values that leaves hold out of line, after [`Walk::nodes`]. Reads all leaves.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn values(
        &mut self,
        cache: &Cache,
        marks: &mut Marks,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        loop {
            while let Some(far) = self.fars.pop() {
                self.value(cache, marks, far)?;
            }
            while let Some((hash, len)) = self.lists.last() {
                let check = |bytes: &[u8]| chunk::piece_list(bytes, *len).map(|_| ());
                let pieces = match cache.chunk(hash, check)? {
                    Fetch::At(id) => return Ok(Step::Need(Vec::from([id]))),
                    Fetch::Here(bytes) => chunk::piece_list(bytes, *len).unwrap_or_default(),
                };
                for piece in &pieces {
                    marks.mark(cache, piece)?;
                }
                self.lists.pop();
            }
            let Some(hash) = self.leaves.get(self.leaves_read) else { return Ok(Step::Done(())) };
            if budget.is_spent() {
                return Ok(Step::Yield);
            }
            match cache.node(hash)? {
                Fetch::At(id) => {
                    return Ok(Step::Need(
                        cache.ahead(id, self.leaves[self.leaves_read..].iter())?,
                    ));
                }
                Fetch::Here(Node::Inner(_)) => {}
                Fetch::Here(Node::Leaf(leaf)) => {
                    for far in (0..leaf.len()).filter_map(|index| leaf.entry(index).far()) {
                        self.value(cache, marks, far)?;
                    }
                }
            }
            self.leaves_read += 1;
            budget.spend(NODE_WORK);
        }
    }

    fn value(&mut self, cache: &Cache, marks: &mut Marks, far: Far) -> Result<(), Error> {
        let len = far.len as usize;
        if marks.mark(cache, &far.hash)? && chunk::pieces_of(len) > 1 {
            self.lists.push((far.hash, len));
        }
        Ok(())
    }
}
