//! The packed chunks of a segment in memory that were read, unpacked.

use crate::segment::Table;
use alloc::boxed::Box;
use core::cell::{Cell, OnceCell};

/// A chunk, once it was read.
type Slot = OnceCell<Box<[u8]>>;

/// The unpacked chunks of a segment, by position. They can be dropped at any time, since the packed chunks stay.
#[derive(Default)]
pub struct Unpacked {
    /// Empty until the first is read.
    chunks: OnceCell<Box<[Slot]>>,
    bytes: Cell<usize>,
}

impl Unpacked {
    pub const fn none() -> Self {
        Self { chunks: OnceCell::new(), bytes: Cell::new(0) }
    }

    /// Returns the chunk at `at` of a table, which is stored packed as `stored`; empty if that is malformed. Adds
    /// new memory to `total`.
    pub fn get(&self, table: &Table, at: usize, stored: &[u8], total: &Cell<usize>) -> &[u8] {
        let chunks =
            self.chunks.get_or_init(|| (0..table.len()).map(|_| OnceCell::new()).collect());
        chunks[at].get_or_init(|| {
            let chunk = table.unpack(at, stored);
            self.bytes.set(self.bytes.get() + chunk.len());
            total.set(total.get() + chunk.len());
            chunk.into_boxed_slice()
        })
    }

    /// Drops all chunks, and subtracts their bytes from `total`.
    pub fn clear(&mut self, total: &Cell<usize>) {
        total.set(total.get() - self.bytes.take());
        self.chunks = OnceCell::new();
    }

    pub const fn bytes(&self) -> usize {
        self.bytes.get()
    }
}
