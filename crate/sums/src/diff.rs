//! The leaves in which two sum trees differ, from left to right. Pieces that both trees have are
//! not read.

use crate::leaves::{Cursor, SumLeaves};
use crate::piece::{Form, Record};
use crate::rules::common;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::error::Error;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// The leaves in which two sum trees differ, from left to right.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{SumDiff, SumLeaves};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [(old, _), (new, _)]) = store([&[("ann", 41), ("bob", 35)], &[("bob", 36)]]);
/// let mut diff = SumDiff::new(old, new);
/// let mut out = SumLeaves::default();
/// assert_eq!(diff.step(&cache, &mut Budget::of(1 << 20), &mut out), Ok(Step::Done(())));
/// let sums = |mark| out.leaves.iter().filter(move |leaf| leaf.mark == mark).map(|leaf| leaf.sum);
/// assert_eq!((sums(0).sum::<u64>(), sums(1).sum::<u64>()), (76, 36));
/// ```
#[derive(Clone, Debug)]
pub struct SumDiff {
    old: Cursor,
    new: Cursor,
    /// The old leaf of a change is written already.
    half: bool,
}

fn is_link(record: &Record<'_>) -> bool {
    matches!(record.form, Form::Link(_))
}

fn is_equal(a: &Record<'_>, b: &Record<'_>) -> bool {
    match (&a.form, &b.form) {
        (Form::Inline(x) | Form::Ref(x), Form::Inline(y) | Form::Ref(y)) => {
            a.path == b.path && a.sum == b.sum && x == y
        }
        (Form::Link(a), Form::Link(b)) => a.chunk == b.chunk,
        _ => false,
    }
}

impl SumDiff {
    /// Begins the changes that lead from `old` to `new`.
    #[must_use]
    pub fn new(old: Tree, new: Tree) -> Self {
        let (old, new) = if old == new { (Tree::EMPTY, Tree::EMPTY) } else { (old, new) };
        Self { old: Cursor::new(old), new: Cursor::new(new), half: false }
    }

    /// Adds the differences to `out`. For each key, the old leaf (if there was one) has the mark 0, and
    /// the new leaf (if there is one) has the mark 1. Read `out` only when it is done: between steps, it
    /// may have half of a change.
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
            budget.spend(256);
            let old = self.old.peek(cache)?;
            let (old, new) = match (old, self.new.peek(cache)?) {
                (Fetch::At(a), Fetch::At(b)) if !a.shares_segment(b) => {
                    return Ok(Step::Need(Vec::from([a.whole(), b.whole()])));
                }
                (Fetch::At(want), _) | (_, Fetch::At(want)) => {
                    return Ok(Step::Need(Vec::from([want.whole()])));
                }
                (Fetch::Here(old), Fetch::Here(new)) => (old, new),
            };
            let order = match (&old, &new) {
                (None, None) => return Ok(Step::Done(())),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => {
                    if is_equal(old, new) {
                        self.old.pass();
                        self.new.pass();
                        continue;
                    }
                    // If one contains the other, the higher one is opened; on the same level, both are.
                    let (a, b) = (old.depth(), new.depth());
                    if common(&old.path, &new.path) < a.min(b) {
                        old.path.cmp(&new.path)
                    } else if a < b {
                        Ordering::Less
                    } else if b < a {
                        Ordering::Greater
                    } else {
                        Ordering::Equal
                    }
                }
            };
            if let (Some(record), true) = (&old, order != Ordering::Greater) {
                if is_link(record) {
                    self.old.enter(record);
                } else if !self.half {
                    match out.add(cache, budget, record, 0)? {
                        Step::Done(()) => self.half = true,
                        waiting => return Ok(waiting),
                    }
                }
            }
            if let (Some(record), true) = (&new, order != Ordering::Less) {
                if is_link(record) {
                    self.new.enter(record);
                } else {
                    match out.add(cache, budget, record, 1)? {
                        Step::Done(()) => self.new.pass(),
                        waiting => return Ok(waiting),
                    }
                }
            }
            if self.half {
                self.half = false;
                self.old.pass();
            }
        }
    }
}
