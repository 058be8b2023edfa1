//! The protocol between an operation and its host.
//!
//! The core does no I/O and has no clock. An operation that may need stored segments, or may take
//! long, is a value with a `step` method. The host calls it until it is [`Step::Done`]. After
//! [`Step::Need`] the host first loads the wants into the [`Cache`]; after
//! [`Step::Yield`] it calls again with a new [`Budget`].

use crate::cache::{Cache, Want};
use alloc::vec::Vec;

/// The result of a step of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// It is finished.
    Done(T),
    /// It cannot continue until this is in memory: segments, or chunks of them. Never empty.
    Need(Vec<Want>),
    /// The budget is spent.
    Yield,
}

/// Copying this many bytes costs as much as reading one.
pub const COPIED_BYTES: usize = 8;

/// The work that a step may do, in bytes read, copied or hashed.
///
/// A step may exceed its budget by the work that it does between two checks of the budget. At most
/// that is one row, which is read in one go, or the entries of a row in an index.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    given: usize,
    spent: usize,
}

impl Budget {
    /// Makes a budget of about `bytes` bytes of work; at least one, so that each step makes progress.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self { given: if bytes == 0 { 1 } else { bytes }, spent: 0 }
    }

    /// Spends `bytes`.
    #[inline]
    pub const fn spend(&mut self, bytes: usize) {
        self.spent = self.spent.saturating_add(bytes);
    }

    /// Returns whether the budget is spent.
    #[inline]
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        self.spent >= self.given
    }

    /// Spends the work that the cache did for this step, and returns whether the budget is spent.
    pub fn is_over(&mut self, cache: &Cache) -> bool {
        self.spend(cache.take_work());
        self.is_spent()
    }

    /// Returns the work that was done, which may exceed the budget.
    #[must_use]
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// Returns the work that is left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.given.saturating_sub(self.spent)
    }

    /// Spends the rest of the budget.
    pub const fn end(&mut self) {
        self.given = self.spent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_zero_is_one_byte() {
        let mut budget = Budget::of(0);
        assert!(!budget.is_spent());
        budget.spend(1);
        assert!(budget.is_spent());
    }

    #[test]
    fn spent_work_may_exceed_the_budget() {
        let mut budget = Budget::of(10);
        budget.spend(7);
        assert!(!budget.is_spent() && budget.spent() == 7 && budget.left() == 3);
        budget.spend(usize::MAX);
        assert!(budget.is_spent() && budget.spent() == usize::MAX && budget.left() == 0);
    }

    #[test]
    fn a_budget_can_be_ended() {
        for spent in [0, 5] {
            let mut budget = Budget::of(10);
            budget.spend(spent);
            budget.end();
            assert!(budget.is_spent() && budget.spent() == spent);
        }
    }
}
