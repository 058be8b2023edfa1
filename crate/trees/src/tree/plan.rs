//! The read phase of a batched descent: finds the nodes that many sorted keys need from storage.
//!
//! It walks the tree level by level. At each level it assigns the keys to the children, and asks for
//! all missing nodes of the next level at once. It does not ask for leaves, because they may not
//! all fit in memory: it lists them in the order in which the next phase will need them.

use crate::cache::{Cache, Fetch, Want};
use crate::error::Error;
use crate::hash::Hash;
use crate::node::Node;
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::vec::Vec;

/// Keys in ascending order.
pub(crate) trait SortedKeys {
    /// Returns the number of keys.
    fn len(&self) -> usize;
    /// Returns the index, not below `from`, of the first key above `key`.
    fn after(&self, from: usize, key: &[u8]) -> usize;
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    hash: Hash,
    from: usize,
    to: usize,
}

/// The read phase of a batched descent: finds the nodes that many sorted keys need from storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    level: Vec<Visit>,
    /// The index in `level` of the next node to visit.
    at: usize,
    below: Vec<Visit>,
    /// The leaves to come, each with the number of keys up to its end.
    leaves: Vec<(Hash, usize)>,
    /// How many of `leaves` are behind.
    done: usize,
}

impl Plan {
    pub(crate) fn new(tree: Tree, keys: usize) -> Self {
        Self::part(tree, 0, keys)
    }

    /// Makes a plan for the keys `from..to`.
    pub(crate) fn part(tree: Tree, from: usize, to: usize) -> Self {
        let level = if tree.is_empty() || from == to {
            Vec::new()
        } else {
            Vec::from([Visit { hash: tree.root, from, to }])
        };
        Self { level, ..Self::default() }
    }

    /// Walks down to the leaves. Costs a lookup of each internal node on the paths of the keys, and a
    /// search for each of its children.
    pub(crate) fn step(
        &mut self,
        cache: &Cache,
        keys: &impl SortedKeys,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while !self.level.is_empty() {
            while let Some(visit) = self.level.get(self.at).copied() {
                if budget.is_over(cache) {
                    return Ok(Step::Yield);
                }
                match cache.node(&visit.hash)? {
                    Fetch::At(want) => {
                        let hashes = self.level[self.at..].iter().map(|visit| &visit.hash);
                        return Ok(Step::Need(cache.parts_ahead(want, hashes)));
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
                                    self.leaves.push((hash, end));
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

    /// Returns what to ask for when `first` is missing and `next` is the next key: `first`, and the leaves
    /// planned from there on, as many as fit. If the next planned leaf is in memory, only `first`: it is a leaf
    /// between them, and the leaves after it were asked for before.
    pub(crate) fn ahead(&mut self, cache: &Cache, first: Want, next: usize) -> Vec<Want> {
        self.done += self.leaves[self.done..].iter().take_while(|(_, end)| *end <= next).count();
        let rest = &self.leaves[self.done..];
        let is_between =
            rest.first().is_none_or(|(hash, _)| matches!(cache.missing(hash), Ok(None)));
        if is_between {
            return Vec::from([first]);
        }
        cache.parts_ahead(first, rest.iter().map(|(hash, _)| hash))
    }
}
