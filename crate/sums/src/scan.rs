//! Scans the leaves of a sum tree from left to right, which is the order of their paths.

use crate::leaves::{Cursor, SumLeaves};
use crate::piece::Form;
use crate::rules::{path, prefix};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::error::Error;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Scans the leaves of a sum tree from left to right, which is the order of their paths.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{SumLeaves, SumScan};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(tree, root)]) = store([&[("ann", 41), ("bob", 35)]]);
/// let mut scan = SumScan::new(tree, None);
/// let mut out = SumLeaves::default();
/// assert_eq!(scan.step(&cache, &mut Budget::of(1 << 20), &mut out), Ok(Step::Done(())));
/// assert_eq!(out.leaves.iter().map(|leaf| leaf.sum).sum::<u64>(), root.sum);
/// ```
#[derive(Clone, Debug)]
pub struct SumScan {
    cursor: Cursor,
    from: [u8; 32],
}

impl SumScan {
    /// Begins a scan of `tree` from `key`, or from the first leaf.
    #[must_use]
    pub fn new(tree: Tree, key: Option<&[u8; 32]>) -> Self {
        Self { cursor: Cursor::new(tree), from: key.map_or([0; 32], path) }
    }

    /// Adds leaves to `out` until the budget is spent or the tree ends. Take the leaves each time it
    /// yields.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut SumLeaves,
    ) -> Result<Step<()>, Error> {
        loop {
            if budget.is_over(cache) {
                return Ok(Step::Yield);
            }
            let record = match self.cursor.peek(cache)? {
                Fetch::At(want) => return Ok(Step::Need(Vec::from([want.whole()]))),
                Fetch::Here(None) => return Ok(Step::Done(())),
                Fetch::Here(Some(record)) => record,
            };
            if prefix(&self.from, record.depth()) > record.path {
                self.cursor.pass();
            } else if let Form::Link(_) = record.form {
                self.cursor.enter(&record);
            } else {
                match out.add(cache, budget, &record, 0)? {
                    Step::Done(()) => self.cursor.pass(),
                    waiting => return Ok(waiting),
                }
            }
            budget.spend(128);
        }
    }
}
