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
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// A budget of about `bytes` bytes of work.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Spends `bytes`.
    pub const fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_spent(&self) -> bool {
        self.left == 0
    }
}
