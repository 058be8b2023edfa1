//! The segments that a verification needs next.

use crate::cache::{Cache, Fetch, Want};
use crate::hash::Hash;
use crate::node::{Inner, Node};
use alloc::vec::Vec;

/// The most nodes that are read to find the segments that are needed next.
const MOST_LOOKED_INTO: usize = 64;

/// Segments that a walk will need. Looks only at nodes in memory.
pub struct SegmentsAhead<'c> {
    cache: &'c Cache,
    ids: Vec<Want>,
    most: usize,
    looked_into: usize,
}

impl<'c> SegmentsAhead<'c> {
    /// Begins with `first` if it is given; gathers up to `most`.
    pub fn new(cache: &'c Cache, first: Option<Want>, most: usize) -> Self {
        Self { cache, ids: Vec::from_iter(first.map(Want::whole)), most, looked_into: 0 }
    }

    /// Returns the gathered wants.
    pub fn into_wants(self) -> Vec<Want> {
        self.ids
    }

    /// Adds the segment of a chunk that is not in memory.
    pub fn add(&mut self, hash: &Hash) {
        if self.ids.len() < self.most
            && let Ok(Some(want)) = self.cache.missing(hash)
            && !want.is_remote()
            && !self.ids.contains(&want.whole())
        {
            self.ids.push(want.whole());
        }
    }

    /// Adds the segments of the children from `at`, and of the nodes below children in memory.
    pub fn gather(&mut self, parent: &Inner<'_>, at: usize) {
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
