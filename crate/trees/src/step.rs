//! The protocol between an operation and its host.
//!
//! The core does no I/O and knows no clock. An operation that may need stored segments, or
//! may take long, is a value with a `step` method. The host calls it until it is
//! [`Step::Done`]; on [`Step::Need`] it first loads the segments into the
//! [`Cache`](crate::cache::Cache), on [`Step::Yield`] it first gives [`Budget`] anew.

use crate::cache::SegmentId;
use alloc::vec::Vec;

/// Where an operation stands after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// It is finished.
    Done(T),
    /// It cannot go on before these segments are in memory. Never empty.
    Need(Vec<SegmentId>),
    /// The budget is spent.
    Yield,
}

/// Work that may still be done in this step, in bytes handled (read, copied or hashed).
///
/// A step may spend more than it was given by one piece of work: what it does between two looks at
/// the budget. The largest are a row, which is read whole, and the entries of a row in an index.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    given: usize,
    spent: usize,
}

impl Budget {
    /// A budget of about `bytes` bytes of work, and of one at least: each step comes further.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self { given: if bytes == 0 { 1 } else { bytes }, spent: 0 }
    }

    /// Spends `bytes`.
    #[inline]
    pub const fn spend(&mut self, bytes: usize) {
        self.spent = self.spent.saturating_add(bytes);
    }

    /// Whether nothing is left.
    #[inline]
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        self.spent >= self.given
    }

    /// The work that was done, which may be more than was given.
    #[must_use]
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// Nothing is left, whatever was spent.
    pub const fn end(&mut self) {
        self.given = self.spent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_nothing_is_one_of_a_little() {
        let mut budget = Budget::of(0);
        assert!(!budget.is_spent());
        budget.spend(1);
        assert!(budget.is_spent());
    }

    #[test]
    fn what_was_spent_is_told_beyond_what_was_given() {
        let mut budget = Budget::of(10);
        budget.spend(7);
        assert!(!budget.is_spent() && budget.spent() == 7);
        budget.spend(usize::MAX);
        assert!(budget.is_spent() && budget.spent() == usize::MAX);
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
