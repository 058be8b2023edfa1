//! The read phase of a batched descent: which segments do many sorted keys need?
//!
//! The tree is walked level by level. At each level the keys are shared out among the
//! children, and all that is missing of the next level is asked for in one go. Leaves are
//! not asked for: there may be more of them than fit in memory, so that their segments are
//! listed in the order in which the next phase will want them.

use crate::cache::{Cache, Fetch, SegmentId};
use crate::error::Error;
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Keys in ascending order.
pub(crate) trait SortedKeys {
    /// How many.
    fn len(&self) -> usize;
    /// The index of the first key from `from` on that is above `key`.
    fn after(&self, from: usize, key: &[u8]) -> usize;
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    hash: Hash,
    from: usize,
    to: usize,
}

/// The read phase of a batched descent: which segments do many sorted keys need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    level: Vec<Visit>,
    /// The next visit of the level to be expanded.
    at: usize,
    below: Vec<Visit>,
    leaves: Vec<SegmentId>,
    /// How many of `leaves` were asked for.
    asked: usize,
}

impl Plan {
    pub(crate) fn new(tree: Tree, keys: usize) -> Self {
        Self::part(tree, 0, keys)
    }

    /// For the keys from `from` to before `to`.
    pub(crate) fn part(tree: Tree, from: usize, to: usize) -> Self {
        let level = if tree.is_empty() || from == to {
            Vec::new()
        } else {
            Vec::from([Visit { hash: tree.root, from, to }])
        };
        Self { level, ..Self::default() }
    }

    /// Walks down to the leaves. Costs one lookup for each internal node that a key touches,
    /// and a search in it for each child touched.
    pub(crate) fn step(
        &mut self,
        cache: &Cache,
        keys: &impl SortedKeys,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while !self.level.is_empty() {
            while let Some(visit) = self.level.get(self.at).copied() {
                if budget.is_spent() {
                    return Ok(Step::Yield);
                }
                match cache.node(&visit.hash)? {
                    Fetch::At(id) => {
                        let hashes = self.level[self.at..].iter().map(|visit| &visit.hash);
                        return Ok(Step::Need(cache.ahead(id, hashes)));
                    }
                    Fetch::Here(Node::Leaf(_)) => {}
                    Fetch::Here(Node::Inner(inner)) => {
                        let mut from = visit.from;
                        let mut index = 0;
                        while from < visit.to && index < inner.len() {
                            let last = index + 1 == inner.len();
                            let end = if last {
                                visit.to
                            } else {
                                keys.after(from, inner.key(index)).min(visit.to)
                            };
                            budget.spend(64);
                            if end > from {
                                let hash = inner.hash(index);
                                if inner.level() == 1 {
                                    let missing = cache.missing(&hash)?;
                                    let recent = self.leaves.iter().rev().take(4);
                                    if let Some(id) = missing
                                        && !recent.into_iter().any(|seen| *seen == id)
                                    {
                                        self.leaves.push(id);
                                    }
                                } else {
                                    self.below.push(Visit { hash, from, to: end });
                                }
                            }
                            from = end;
                            index += 1;
                        }
                    }
                }
                self.at += 1;
            }
            core::mem::swap(&mut self.level, &mut self.below);
            self.below.clear();
            self.at = 0;
        }
        Ok(Step::Done(()))
    }

    /// What to ask for when the segment `first` of a leaf is missing: it and those planned
    /// after it, as many as fit.
    pub(crate) fn ahead(&mut self, cache: &Cache, first: SegmentId) -> Vec<SegmentId> {
        let mut wanted = Vec::from([first]);
        while self.asked < self.leaves.len() && wanted.len() < cache.window() {
            let id = self.leaves[self.asked];
            if id != first && cache.wants(id) && !wanted.contains(&id) {
                wanted.push(id);
            }
            self.asked += 1;
        }
        wanted
    }
}
