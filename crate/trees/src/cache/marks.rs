//! Marks of the checked and the damaged chunks of a segment.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// A bit for each chunk and mark. A chunk is checked while it is in memory, and damaged until it is
/// read again.
#[derive(Debug)]
pub struct Marks {
    checked: Vec<Cell<u64>>,
    /// Empty as long as no chunk is damaged: nearly always.
    damaged: RefCell<Vec<Cell<u64>>>,
}

const fn bit(chunk: usize) -> u64 {
    1 << (chunk % 64)
}

#[inline]
fn is_set(words: &[Cell<u64>], chunk: usize) -> bool {
    words.get(chunk / 64).is_some_and(|word| word.get() & bit(chunk) != 0)
}

#[inline]
fn set(words: &[Cell<u64>], chunk: usize) {
    if let Some(word) = words.get(chunk / 64) {
        word.set(word.get() | bit(chunk));
    }
}

#[inline]
fn clear(words: &[Cell<u64>], chunk: usize) {
    if let Some(word) = words.get(chunk / 64) {
        word.set(word.get() & !bit(chunk));
    }
}

#[inline(never)]
fn words(chunks: usize, word: u64) -> Vec<Cell<u64>> {
    vec![Cell::new(word); chunks.div_ceil(64)]
}

impl Marks {
    /// Returns marks for a segment that was never in memory.
    pub const fn none() -> Self {
        Self { checked: Vec::new(), damaged: RefCell::new(Vec::new()) }
    }

    /// Returns marks for `chunks` chunks that were made here: all are checked.
    pub fn fresh(chunks: usize) -> Self {
        Self { checked: words(chunks, u64::MAX), ..Self::none() }
    }

    /// Forgets the marks of `chunks` chunks, as all but `kept` were just read.
    pub fn read_all(&mut self, chunks: usize, kept: impl Iterator<Item = usize>) {
        self.leave(kept);
        self.damaged = RefCell::default();
        if self.checked.is_empty() {
            self.checked = words(chunks, 0);
        }
    }

    /// Forgets the marks of one of `chunks` chunks, which was just read.
    pub fn read_one(&mut self, chunk: usize, chunks: usize) {
        if self.checked.is_empty() {
            self.checked = words(chunks, 0);
        }
        self.leave_one(chunk);
        clear(&self.damaged.borrow(), chunk);
    }

    /// Forgets that a chunk is checked, as it leaves memory.
    pub fn leave_one(&self, chunk: usize) {
        clear(&self.checked, chunk);
    }

    /// Forgets which chunks are checked, as all but `kept` leave memory.
    pub fn leave(&mut self, kept: impl Iterator<Item = usize>) {
        let before = core::mem::take(&mut self.checked);
        for chunk in kept {
            if self.checked.is_empty() {
                self.checked = words(before.len() * 64, 0);
            }
            if is_set(&before, chunk) {
                set(&self.checked, chunk);
            }
        }
    }

    #[inline]
    pub fn is_checked(&self, chunk: usize) -> bool {
        is_set(&self.checked, chunk)
    }

    /// Returns whether no chunk was read since the segment was loaded.
    pub fn is_unread(&self) -> bool {
        self.checked.iter().all(|word| word.get() == 0)
    }

    pub fn set_checked(&self, chunk: usize) {
        set(&self.checked, chunk);
    }

    #[inline]
    pub fn is_damaged(&self, chunk: usize) -> bool {
        let damaged = self.damaged.borrow();
        is_set(&damaged, chunk)
    }

    pub fn set_damaged(&self, chunk: usize, chunks: usize) {
        let mut damaged = self.damaged.borrow_mut();
        if damaged.is_empty() {
            *damaged = words(chunks, 0);
        }
        set(&damaged, chunk);
    }
}
