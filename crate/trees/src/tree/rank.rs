//! Counts the entries of a range by the counts in internal nodes.

use crate::cache::{Cache, Fetch, Want};
use crate::error::Error;
use crate::node::Node;
use crate::step::Step;
use crate::tree::{Range, Tree, top};
use alloc::vec::Vec;
use core::ops::Bound;

/// Counts the entries of a range by two descents.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::step::Step;
/// use hedgerow_trees::tree::{Count, Range};
///
/// let (cache, [tree]) = store([&[("a/1", "1"), ("b/1", "2"), ("b/2", "3")]]);
/// assert_eq!(Count::new(tree, Range::prefix(b"b/")).step(&cache), Ok(Step::Done(2)));
/// ```
#[derive(Clone, Debug)]
pub struct Count {
    tree: Tree,
    range: Range,
}

impl Count {
    /// Begins a count of `range` in `tree`.
    #[must_use]
    pub const fn new(tree: Tree, range: Range) -> Self {
        Self { tree, range }
    }

    /// Returns the count. Costs two nodes for each level of the tree.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(&self, cache: &Cache) -> Result<Step<u64>, Error> {
        let (lower, upper) = (&self.range.lower, &self.range.upper);
        let before = match lower {
            Bound::Unbounded => Fetch::Here(0),
            Bound::Included(key) => rank(cache, self.tree, key, false)?,
            Bound::Excluded(key) => rank(cache, self.tree, key, true)?,
        };
        let until = match upper {
            Bound::Unbounded => Fetch::Here(self.tree.count),
            Bound::Included(key) => rank(cache, self.tree, key, true)?,
            Bound::Excluded(key) => rank(cache, self.tree, key, false)?,
        };
        Ok(match (before, until) {
            (Fetch::Here(before), Fetch::Here(until)) => Step::Done(until.saturating_sub(before)),
            (Fetch::At(a), Fetch::At(b)) => {
                Step::Need(cache.parts(a, &mut [Fetch::At(b)].into_iter()))
            }
            (Fetch::At(want), _) | (_, Fetch::At(want)) => Step::Need(Vec::from([want])),
        })
    }
}

/// Counts the entries whose keys are below `key`; if `through`, including the entry of `key`.
fn rank(cache: &Cache, tree: Tree, key: &[u8], through: bool) -> Result<Fetch<u64>, Error> {
    if tree.is_empty() {
        return Ok(Fetch::Here(0));
    }
    let at = |want: Want| Ok(Fetch::At(want));
    let mut node = match top(cache, tree)? {
        Fetch::Here(node) => node,
        Fetch::At(want) => return at(want),
    };
    let mut before = 0;
    loop {
        match node {
            Node::Leaf(leaf) => {
                let index = match leaf.search(0, key) {
                    Ok(index) => index + usize::from(through),
                    Err(index) => index,
                };
                return Ok(Fetch::Here(before + index as u64));
            }
            Node::Inner(inner) => {
                let index = inner.route(0, key);
                before += inner.count_before(index);
                if index == inner.len() {
                    return Ok(Fetch::Here(before));
                }
                node = match cache.child(&inner, index)? {
                    Fetch::Here(node) => node,
                    Fetch::At(want) => return at(want),
                };
            }
        }
    }
}
