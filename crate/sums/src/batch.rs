//! A batch: leaves to put and keys to delete, in the order of their paths.

use crate::rules::{path, sort_some};
use alloc::vec::Vec;
use hedgerow_trees::error::Error;
use hedgerow_trees::limits::MAX_SUM_VALUE_BYTES;
use hedgerow_trees::step::{Budget, Step};

/// The cost of taking an edit in its order.
const TAKE_WORK: usize = 8;

/// An edit of a key. An empty value with the sum 0 deletes the leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) sum: u64,
    start: u32,
    len: u32,
    /// It is an error if the tree has a leaf of this key.
    pub(crate) is_new: bool,
}

impl Edit {
    pub(crate) const fn deletes(&self) -> bool {
        self.sum == 0 && self.len == 0
    }
}

/// A batch: leaves to put and keys to delete, in the order of their paths.
#[derive(Clone, Debug, Default)]
pub struct SumBatch {
    bytes: Vec<u8>,
    /// The path of each edit, and its index in `edits`.
    given: Vec<([u8; 32], u32)>,
    edits: Vec<Edit>,
    paths: Vec<[u8; 32]>,
    /// For each of `paths`, the edit that counts.
    last: Vec<u32>,
    /// The ranges of `given` that are not sorted yet, once sorting has begun.
    ranges: Option<Vec<(usize, usize)>>,
    /// How many of `given` are in `paths` already.
    taken: usize,
    /// The total of the sums of all paths but the last.
    total: u64,
    /// Two puts of one key are an error, see [`SumBatch::of_rows`].
    is_unique: bool,
}

impl SumBatch {
    /// Makes an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty batch for leaves of rows. Edits may come in any order. Each key may have one
    /// put (by [`SumBatch::add`] or [`SumBatch::put`]) and one [`SumBatch::delete`]; the put counts.
    #[must_use]
    pub fn of_rows() -> Self {
        Self { is_unique: true, ..Self::default() }
    }

    /// Estimates the bytes that it takes in memory.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.bytes.len() + self.edits.len() * 128
    }

    /// Puts a leaf as [`SumBatch::put`], for a row that had no leaf of this key before. The merge fails if
    /// another row puts the same key, or if the tree has a leaf of it that the batch does not delete.
    ///
    /// # Errors
    /// As [`SumBatch::put`].
    pub fn add(&mut self, key: &[u8; 32], value: &[u8], sum: u64) -> Result<(), Error> {
        self.put(key, value, sum)?;
        if let Some(edit) = self.edits.last_mut() {
            edit.is_new = true;
        }
        Ok(())
    }

    /// Puts a leaf; one without a value and with the sum 0 deletes. The last edit of a key counts.
    ///
    /// # Errors
    /// [`Error::SumValueTooLarge`] if the value is longer than [`MAX_SUM_VALUE_BYTES`], or all values
    /// together are longer than 4 GiB.
    pub fn put(&mut self, key: &[u8; 32], value: &[u8], sum: u64) -> Result<(), Error> {
        let start = u32::try_from(self.bytes.len());
        let (Ok(start), true) = (start, value.len() <= MAX_SUM_VALUE_BYTES) else {
            return Err(Error::SumValueTooLarge);
        };
        self.bytes.extend_from_slice(value);
        self.push(key, Edit { sum, start, len: value.len() as u32, is_new: false });
        Ok(())
    }

    /// Deletes a key.
    pub fn delete(&mut self, key: &[u8; 32]) {
        self.push(key, Edit { sum: 0, start: 0, len: 0, is_new: false });
    }

    fn push(&mut self, key: &[u8; 32], edit: Edit) {
        self.given.push((path(key), self.edits.len() as u32));
        self.edits.push(edit);
    }

    /// Returns the number of edits.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.edits.len()
    }

    /// Returns whether there are no edits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorts, and keeps the last edit of each key.
    ///
    /// # Errors
    /// [`Error::SumOverflow`] if the total of the puts exceeds 64 bits, as then no tree can hold them all;
    /// [`Error::SumKeyTwice`] if two rows put one key.
    pub(crate) fn sort(&mut self, budget: &mut Budget) -> Result<Step<()>, Error> {
        // It was sorted for an earlier merge.
        if self.given.is_empty() {
            return Ok(Step::Done(()));
        }
        let ranges = self.ranges.get_or_insert_with(|| Vec::from([(0, self.given.len())]));
        if !sort_some(&mut self.given, ranges, budget) {
            return Ok(Step::Yield);
        }
        while let Some((path, edit)) = self.given.get(self.taken).copied() {
            if budget.is_spent() {
                return Ok(Step::Yield);
            }
            budget.spend(TAKE_WORK);
            self.taken += 1;
            if self.paths.last() != Some(&path) {
                self.count_last()?;
                self.paths.push(path);
                self.last.push(edit);
                continue;
            }
            let Some(last) = self.last.last_mut() else { continue };
            if !self.is_unique {
                *last = edit.max(*last);
                continue;
            }
            // One row gave up the key, and another row uses it now.
            let (a, b) = (self.edits[*last as usize], self.edits[edit as usize]);
            if !a.deletes() && !b.deletes() {
                return Err(Error::SumKeyTwice);
            }
            *last = if b.deletes() { *last } else { edit };
            self.edits[*last as usize].is_new = false;
        }
        if !self.given.is_empty() {
            self.count_last()?;
            self.given = Vec::new();
        }
        Ok(Step::Done(()))
    }

    /// Adds the sum of the last path to the total, once it has no more edits.
    fn count_last(&mut self) -> Result<(), Error> {
        let sum = self.last.last().map_or(0, |edit| self.edits[*edit as usize].sum);
        self.total = self.total.checked_add(sum).ok_or(Error::SumOverflow)?;
        Ok(())
    }

    pub(crate) fn paths(&self) -> &[[u8; 32]] {
        &self.paths
    }

    pub(crate) fn edit(&self, at: u32) -> (Edit, &[u8]) {
        let edit = self.edits[self.last[at as usize] as usize];
        (edit, &self.bytes[edit.start as usize..edit.start as usize + edit.len as usize])
    }
}
