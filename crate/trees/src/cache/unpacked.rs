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

/// Counts the bytes of unpacked chunks of all segments.
#[derive(Debug)]
pub struct UnpackedBytes {
    /// The bytes in memory.
    held: Cell<usize>,
    /// The bytes that were unpacked, or read in another way, since they were last taken.
    work: Cell<usize>,
}

impl UnpackedBytes {
    pub const fn none() -> Self {
        Self { held: Cell::new(0), work: Cell::new(0) }
    }

    /// Returns the bytes in memory.
    pub const fn held(&self) -> usize {
        self.held.get()
    }

    /// Takes the work since the last call.
    pub fn take_work(&self) -> usize {
        self.work.take()
    }

    /// Adds the work for so many bytes.
    pub fn add_work(&self, bytes: usize) {
        self.work.set(self.work.get().saturating_add(bytes));
    }

    fn add(&self, bytes: usize) {
        self.held.set(self.held.get() + bytes);
        self.add_work(bytes);
    }

    fn subtract(&self, bytes: usize) {
        self.held.set(self.held.get() - bytes);
    }
}

impl Unpacked {
    pub const fn none() -> Self {
        Self { chunks: OnceCell::new(), bytes: Cell::new(0) }
    }

    /// Returns the chunk at `at` of a table, which is stored packed as `stored`; empty if that is malformed. Adds
    /// new memory to `total`.
    pub fn get(&self, table: &Table, at: usize, stored: &[u8], total: &UnpackedBytes) -> &[u8] {
        let chunks =
            self.chunks.get_or_init(|| (0..table.len()).map(|_| OnceCell::new()).collect());
        chunks[at].get_or_init(|| {
            let chunk = table.unpack(at, stored);
            self.bytes.set(self.bytes.get() + chunk.len());
            total.add(chunk.len());
            chunk.into_boxed_slice()
        })
    }

    /// Drops all chunks, and subtracts their bytes from `total`.
    pub fn clear(&mut self, total: &UnpackedBytes) {
        total.subtract(self.bytes.take());
        self.chunks = OnceCell::new();
    }

    pub const fn bytes(&self) -> usize {
        self.bytes.get()
    }
}
