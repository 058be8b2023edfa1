//! Walks all chunks that commits reach. It reads internal nodes, but only marks leaves, so that the
//! walk costs a hundredth of the store. It reads leaves only to find their values.
//!
//! First come the commits that must be complete. Then come pinned commits that may be deleted already:
//! it marks their chunks that still exist.

use super::marks::Marks;
use crate::cache::{Cache, Fetch};
use crate::chunk::{self, ChunkKind};
use crate::error::{DecodeError, Error};
use crate::forest::{Forest, SUMS};
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::sum_piece::{Named, Names};
use crate::value::ValueRef;
use alloc::vec::Vec;

/// The cost of reading a node, in bytes of work.
const NODE_WORK: usize = 4096;
/// The cost of marking a chunk.
const MARK_WORK: usize = 64;

/// Walks all chunks that commits reach.
#[derive(Debug, Default)]
pub struct Walk {
    commits: Vec<Hash>,
    pinned: Vec<Hash>,
    /// How many of `leaves` and of `value_refs` belong to commits that must be complete.
    sure: Option<(usize, usize)>,
    /// Pieces and tops of sum trees that are still to be read.
    pieces: Vec<(Hash, ChunkKind)>,
    /// Values out of line of their leaves.
    value_refs: Vec<ValueRef>,
    /// The nodes of one level, and how many of them were read.
    level: Vec<Hash>,
    at: usize,
    below: Vec<Hash>,
    /// All leaves, tree by tree, in the order of their keys.
    leaves: Vec<Hash>,
    leaves_read: usize,
    /// Lists of pieces to be read, the lengths of their values, and whether these may be deleted.
    lists: Vec<(Hash, usize, bool)>,
}

const fn malformed(hash: Hash, cause: DecodeError) -> Error {
    Error::CorruptChunk { hash, cause: Some(cause) }
}

impl Walk {
    /// Adds a commit; ignores [`Hash::ZERO`].
    pub fn add(&mut self, commit: Hash) {
        if commit != Hash::ZERO {
            self.commits.push(commit);
        }
    }

    /// Adds a commit whose chunks may be missing.
    pub fn add_pinned(&mut self, commit: Hash) {
        if commit != Hash::ZERO {
            self.pinned.push(commit);
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
        loop {
            let step = self.some_nodes(cache, marks, budget)?;
            if self.sure.is_some() || !matches!(step, Step::Done(())) {
                return Ok(step);
            }
            self.sure = Some((self.leaves.len(), self.value_refs.len()));
            marks.may_miss = true;
            self.commits = core::mem::take(&mut self.pinned);
        }
    }

    fn some_nodes(
        &mut self,
        cache: &Cache,
        marks: &mut Marks,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while let Some(hash) = self.commits.last() {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let bytes = match cache.chunk(hash, ChunkKind::Commit) {
                Ok(Fetch::At(want)) => return Ok(Step::Need(Vec::from([want.whole()]))),
                Ok(Fetch::Here(bytes)) => bytes,
                Err(Error::MissingChunk(_)) if marks.may_miss => {
                    self.commits.pop();
                    continue;
                }
                Err(cause) => return Err(cause),
            };
            let forest = Forest::decode(bytes).map_err(|cause| malformed(*hash, cause))?;
            budget.spend(bytes.len());
            if marks.mark(cache, hash)? {
                for named in forest.trees() {
                    let root = named.tree.root;
                    if !named.tree.is_empty() && marks.mark(cache, &root)? {
                        if named.name.kind() == Some(SUMS) {
                            self.pieces.push((root, ChunkKind::SumTop));
                        } else {
                            self.level.push(root);
                        }
                    }
                }
            }
            self.commits.pop();
        }
        while let Some((hash, kind)) = self.pieces.last() {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let piece = match cache.chunk(hash, *kind)? {
                Fetch::At(want) => {
                    let hashes = self.pieces.iter().rev().map(|(hash, _)| hash);
                    return Ok(Step::Need(cache.ahead(want, hashes)));
                }
                Fetch::Here(piece) => piece,
            };
            let hash = *hash;
            self.pieces.pop();
            let first = self.pieces.len();
            let mut names = Names::of(piece);
            for named in &mut names {
                match named {
                    Named::Value(value_ref) => self.value_refs.push(value_ref),
                    Named::Piece(hash) => {
                        if marks.mark(cache, &hash)? {
                            self.pieces.push((hash, ChunkKind::SumPiece));
                        }
                    }
                }
            }
            if !names.is_whole() {
                return Err(Error::CorruptChunk { hash, cause: None });
            }
            // The last one is read next, so reverse them.
            self.pieces[first..].reverse();
            budget.spend(NODE_WORK);
        }
        loop {
            while let Some(hash) = self.level.get(self.at) {
                if budget.is_over(cache) {
                    return Ok(Step::Yield);
                }
                match cache.node(hash)? {
                    // The chunks below it are at the remote, too.
                    Fetch::At(want) if want.is_remote() => {}
                    Fetch::At(want) => {
                        return Ok(Step::Need(cache.ahead(want, self.level[self.at..].iter())));
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
        let (sure_leaves, sure_refs) = self.sure.unwrap_or_default();
        loop {
            while let Some(value_ref) = self.value_refs.pop() {
                marks.may_miss = self.value_refs.len() >= sure_refs;
                self.value(cache, marks, value_ref)?;
                budget.spend(MARK_WORK);
                if budget.is_over(cache) {
                    return Ok(Step::Yield);
                }
            }
            while let Some((hash, len, may_miss)) = self.lists.last() {
                if budget.is_over(cache) {
                    return Ok(Step::Yield);
                }
                marks.may_miss = *may_miss;
                let pieces = match cache.chunk(hash, ChunkKind::PieceList)? {
                    Fetch::At(want) => return Ok(Step::Need(Vec::from([want.whole()]))),
                    Fetch::Here(bytes) => {
                        chunk::piece_list(bytes, *len).map_err(|cause| malformed(*hash, cause))?
                    }
                };
                budget.spend(MARK_WORK * pieces.len());
                for piece in &pieces {
                    marks.mark(cache, piece)?;
                }
                self.lists.pop();
            }
            let Some(hash) = self.leaves.get(self.leaves_read) else { return Ok(Step::Done(())) };
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            marks.may_miss = self.leaves_read >= sure_leaves;
            match cache.node(hash)? {
                Fetch::At(want) if want.is_remote() => {}
                Fetch::At(want) => {
                    return Ok(Step::Need(
                        cache.ahead(want, self.leaves[self.leaves_read..].iter()),
                    ));
                }
                Fetch::Here(Node::Inner(_)) => {}
                Fetch::Here(Node::Leaf(leaf)) => {
                    for value_ref in
                        (0..leaf.len()).filter_map(|index| leaf.entry(index).value_ref())
                    {
                        self.value(cache, marks, value_ref)?;
                    }
                }
            }
            self.leaves_read += 1;
            budget.spend(NODE_WORK);
        }
    }

    fn value(
        &mut self,
        cache: &Cache,
        marks: &mut Marks,
        value_ref: ValueRef,
    ) -> Result<(), Error> {
        let len = value_ref.len as usize;
        if marks.mark(cache, &value_ref.hash)? && chunk::pieces_of(len) > 1 {
            self.lists.push((value_ref.hash, len, marks.may_miss));
        }
        Ok(())
    }
}
