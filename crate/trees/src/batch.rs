//! A batch: edits gathered from rows, sorted by key. Of equal keys the last edit wins; updates
//! are kept after the edit that they change.
//!
//! Keys and values are in pages, and each edit has an item of 16 bytes. A page never moves: growing
//! one block of many megabytes would pause the page of the app. Edits arrive in runs. A run is sorted
//! when it is closed, and [`Batch::sort`] merges runs two by two, so that no step of the work grows
//! with the batch.

use crate::key::Key;
use crate::step::Budget;
use crate::value::{Kind, Value};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// An edit of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit<'a> {
    /// Sets this value.
    Put(Value<'a>),
    /// Deletes the row.
    Delete,
    /// Changes the value by this operation, see [`ResolveUpdates`](crate::tree::ResolveUpdates).
    Update(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Json,
    Bytes,
    Delete,
    Update,
}

/// Bytes of a page. A larger edit has a page of its own.
const PAGE_BYTES: usize = 1 << 20;

/// Bytes of the first page: most batches are small.
const FIRST_PAGE_BYTES: usize = 16 << 10;

/// The fewest edits that [`Batch::close_long_run`] closes as a run.
const SHORT_RUN: usize = 64;

/// Where an edit's key starts. Older edits have lower places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    page: u32,
    at: u32,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    at: Place,
    value_len: u32,
    key_len: u16,
    what: What,
}

/// A batch: edits gathered from rows, sorted by key. Of equal keys the last edit wins.
#[derive(Debug, Default)]
pub struct Batch {
    pages: Vec<Vec<u8>>,
    items: Vec<Item>,
    /// Where each closed run ends among the items.
    runs: Vec<usize>,
    merging: Merging,
    has_updates: bool,
    /// The cost of comparing each key of the open run once.
    open_cost: usize,
}

/// A pass that merges runs two by two from `items` into `into`.
#[derive(Debug, Default)]
struct Merging {
    into: Vec<Item>,
    into_runs: Vec<usize>,
    /// The pair of runs that is being merged, and the position in each.
    pair: usize,
    left: usize,
    right: usize,
    /// The merge of the pair has begun: its positions are set.
    begun: bool,
}

/// The cost of moving an edit.
const MOVE_COST: usize = 4;

/// Returns the cost of comparing the key of an edit with another.
const fn compare_cost(item: &Item) -> usize {
    2 + item.key_len as usize / 8
}

fn key<'a>(pages: &'a [Vec<u8>], item: &Item) -> &'a [u8] {
    let at = item.at.at as usize;
    &pages[item.at.page as usize][at..at + usize::from(item.key_len)]
}

impl Batch {
    /// Makes an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an edit to the open run.
    pub fn push(&mut self, key: Key<'_>, edit: Edit<'_>) {
        let (what, value) = match edit {
            Edit::Put(value) if value.kind() == Kind::Json => (What::Json, value.bytes()),
            Edit::Put(value) => (What::Bytes, value.bytes()),
            Edit::Delete => (What::Delete, &[][..]),
            Edit::Update(change) => (What::Update, change),
        };
        self.has_updates |= what == What::Update;
        // Places give the order of age, so no two edits may share one.
        let len = (key.len() + value.len()).max(1);
        let full = |page: &Vec<u8>| page.capacity() - page.len() < len;
        if self.pages.last().is_none_or(full) {
            let bytes = if self.pages.is_empty() { FIRST_PAGE_BYTES } else { PAGE_BYTES };
            self.pages.push(Vec::with_capacity(len.max(bytes)));
        }
        let index = self.pages.len() - 1;
        let page = &mut self.pages[index];
        let at = Place { page: index as u32, at: page.len() as u32 };
        page.extend_from_slice(&key);
        page.extend_from_slice(value);
        if page.len() == at.at as usize {
            page.push(0);
        }
        let item = Item { at, value_len: value.len() as u32, key_len: key.len() as u16, what };
        self.open_cost += compare_cost(&item);
        self.items.push(item);
    }

    /// Closes the open run and sorts it; returns the cost.
    #[inline(never)] // It is called from many places, and has a sort in it.
    pub fn close_run(&mut self) -> usize {
        let Self { pages, items, runs, .. } = self;
        let start = runs.last().copied().unwrap_or(0);
        let run = &mut items[start..];
        if run.is_empty() {
            return 0;
        }
        // Even a run in order costs the comparisons.
        let mut cost = core::mem::take(&mut self.open_cost);
        let ordered = run.windows(2).all(|pair| key(pages, &pair[0]) < key(pages, &pair[1]));
        if !ordered {
            cost *= 1 + run.len().ilog2() as usize;
            // Equal keys are ordered by age, so that the order is total.
            run.sort_unstable_by(|a, b| key(pages, a).cmp(key(pages, b)).then(a.at.cmp(&b.at)));
            let mut kept = start;
            for index in start..items.len() {
                let item = items[index];
                // An update needs the edits before it; any other edit replaces them.
                while item.what != What::Update
                    && kept > start
                    && key(pages, &items[kept - 1]) == key(pages, &item)
                {
                    kept -= 1;
                }
                items[kept] = item;
                kept += 1;
            }
            items.truncate(kept);
        }
        if start > 0 && key(pages, &items[start - 1]) < key(pages, &items[start]) {
            runs.pop();
        }
        runs.push(items.len());
        cost
    }

    /// Closes the open run unless it is short; returns the cost. It is called at the end of a slice, so
    /// that sorting what the slice has gathered is part of that slice, even on a slow machine.
    pub fn close_long_run(&mut self) -> usize {
        let len = self.items.len() - self.runs.last().copied().unwrap_or(0);
        if len >= SHORT_RUN { self.close_run() } else { 0 }
    }

    /// Merges closed runs until one is left; `false` if the budget ends first.
    pub fn sort(&mut self, budget: &mut Budget) -> bool {
        while self.runs.len() > 1 {
            if !self.merge_pass(budget) {
                return false;
            }
        }
        true
    }

    fn merge_pass(&mut self, budget: &mut Budget) -> bool {
        let Self { pages, items, runs, merging, .. } = self;
        merging.into.reserve_exact(items.len().saturating_sub(merging.into.len()));
        while merging.pair < runs.len() {
            let start = if merging.pair == 0 { 0 } else { runs[merging.pair - 1] };
            let middle = runs[merging.pair];
            let end = runs.get(merging.pair + 1).copied().unwrap_or(middle);
            if !merging.begun {
                (merging.left, merging.right, merging.begun) = (start, middle, true);
            }
            while merging.left < middle || merging.right < end {
                if budget.is_spent() {
                    return false;
                }
                let side = if merging.left < middle { merging.left } else { merging.right };
                budget.spend(MOVE_COST + compare_cost(&items[side]));
                let order = if merging.right == end {
                    Ordering::Less
                } else if merging.left == middle {
                    Ordering::Greater
                } else {
                    key(pages, &items[merging.left]).cmp(key(pages, &items[merging.right]))
                };
                let is_update = || items[merging.right].what == What::Update;
                if order == Ordering::Less || (order == Ordering::Equal && is_update()) {
                    merging.into.push(items[merging.left]);
                } else if order == Ordering::Greater {
                    merging.into.push(items[merging.right]);
                    merging.right += 1;
                }
                if order != Ordering::Greater {
                    merging.left += 1;
                }
            }
            merging.into_runs.push(merging.into.len());
            merging.pair += 2;
            merging.begun = false;
        }
        core::mem::swap(items, &mut merging.into);
        core::mem::swap(runs, &mut merging.into_runs);
        merging.into.clear();
        merging.into_runs.clear();
        merging.pair = 0;
        true
    }

    /// Returns whether it has updates, which a [`ResolveUpdates`](crate::tree::ResolveUpdates) must turn into puts.
    #[must_use]
    pub const fn has_updates(&self) -> bool {
        self.has_updates
    }

    /// Returns the number of edits. After [`Batch::sort`] each key has at most one put or deletion,
    /// followed by the updates of the key that were added after it, in their order.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether it has no edits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the bytes that it takes in memory.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.pages.iter().map(Vec::capacity).sum::<usize>()
            + (self.items.capacity() + self.merging.into.capacity()) * size_of::<Item>()
    }

    /// Returns the key at `index`, below [`Batch::len`].
    #[must_use]
    pub fn key(&self, index: usize) -> Key<'_> {
        Key::trusted(key(&self.pages, &self.items[index]))
    }

    /// Returns the edit at `index`, below [`Batch::len`].
    #[must_use]
    pub fn edit(&self, index: usize) -> Edit<'_> {
        let item = &self.items[index];
        let start = item.at.at as usize + usize::from(item.key_len);
        let page = &self.pages[item.at.page as usize];
        let value = &page[start..start + item.value_len as usize];
        match item.what {
            What::Json => Edit::Put(Value::trusted(Kind::Json, value)),
            What::Bytes => Edit::Put(Value::trusted(Kind::Bytes, value)),
            What::Delete => Edit::Delete,
            What::Update => Edit::Update(value),
        }
    }

    /// Returns the first index, not below `from`, whose key is above `key`. Costs the logarithm of the
    /// distance (a galloping search).
    #[must_use]
    pub fn after(&self, from: usize, key: &[u8]) -> usize {
        let mut low = from;
        let mut stride = 1;
        while low + stride <= self.len() && self.key(low + stride - 1).bytes() <= key {
            low += stride;
            stride *= 2;
        }
        let mut high = (low + stride - 1).min(self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle).bytes() <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(runs: &[&[(&str, &str)]]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut batch = Batch::new();
        for run in runs {
            for (key, value) in *run {
                let value = Value::trusted(Kind::Json, value.as_bytes());
                batch.push(Key::trusted(key.as_bytes()), Edit::Put(value));
            }
            batch.close_run();
        }
        let mut steps = 0;
        while !batch.sort(&mut Budget::of(1)) {
            steps += 1;
            assert!(steps < 1000, "sorting must make progress");
        }
        (0..batch.len())
            .map(|index| match batch.edit(index) {
                Edit::Put(value) => (batch.key(index).to_vec(), value.bytes().to_vec()),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn owned(rows: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        rows.iter().map(|(key, value)| (key.as_bytes().into(), value.as_bytes().into())).collect()
    }

    #[test]
    fn the_last_of_equal_keys_wins_within_a_run_and_across_runs() {
        assert_eq!(
            sorted(&[&[("b", "1"), ("a", "2"), ("b", "3")], &[], &[("b", "4")], &[("0", "5")]]),
            owned(&[("0", "5"), ("a", "2"), ("b", "4")])
        );
        assert_eq!(
            sorted(&[&[("b", "1"), ("a", "2"), ("b", "3")]]),
            owned(&[("a", "2"), ("b", "3")])
        );
    }

    #[test]
    fn a_long_run_is_closed_and_a_short_one_grows() {
        let mut batch = Batch::new();
        for number in (0..200_u8).rev() {
            batch.push(Key::trusted(&[number]), Edit::Delete);
            if number % 10 == 0 {
                batch.close_long_run();
            }
        }
        assert_eq!(batch.runs, [70, 140]);
        batch.close_run();
        assert!(batch.sort(&mut Budget::of(usize::MAX)));
        assert!((0..200_u8).all(|at| *batch.key(usize::from(at)) == [at]));
    }

    #[test]
    fn ordered_runs_are_joined_without_merging() {
        let mut batch = Batch::new();
        for key in ["a", "b", "c", "d"] {
            batch.push(Key::trusted(key.as_bytes()), Edit::Delete);
            batch.close_run();
        }
        assert_eq!(batch.runs, [4]);
    }

    #[test]
    fn an_equal_key_across_ordered_runs_is_merged() {
        assert_eq!(
            sorted(&[&[("a", "1"), ("b", "1")], &[("b", "2"), ("c", "2")]]),
            owned(&[("a", "1"), ("b", "2"), ("c", "2")])
        );
    }

    #[test]
    fn after_finds_the_first_key_above() {
        let mut batch = Batch::new();
        for key in 0..100_u8 {
            batch.push(Key::trusted(&[2 * key]), Edit::Delete);
        }
        batch.close_run();
        for from in 0..100 {
            for key in 0..=255_u8 {
                let expected = (from..100).find(|at| *batch.key(*at) > [key][..]).unwrap_or(100);
                assert_eq!(batch.after(from, &[key]), expected, "from {from}, key {key}");
            }
        }
    }
}
