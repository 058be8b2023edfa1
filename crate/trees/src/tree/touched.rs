//! Which keys a change has touched, whether or not it changed them.
//!
//! Keys are kept as 64-bit hashes, eight bytes each. Of two different keys with one hash,
//! which among a million touched keys and as many others is one chance in 10^7, the second
//! counts as touched as well.

use crate::tree::Range;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use xxhash_rust::xxh64::xxh64;

const SEED: u64 = 0x6865_6467_6572_6f77;

/// Hashes in a run: sorting one takes about a millisecond.
const RUN: usize = 1 << 13;

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Sorted runs, and an open one at the end.
    runs: Vec<Vec<u64>>,
    ranges: Vec<Range>,
}

impl Touched {
    /// Notes a key.
    pub fn add(&mut self, key: &[u8]) {
        if self.runs.last().is_none_or(|run| run.len() == RUN) {
            self.close();
            self.runs.push(Vec::new());
        }
        if let Some(run) = self.runs.last_mut() {
            run.push(xxh64(key, SEED));
        }
    }

    /// Notes all keys of a range.
    pub fn add_range(&mut self, range: Range) {
        self.ranges.push(range);
    }

    /// Makes ready for questions.
    pub fn close(&mut self) {
        if let Some(run) = self.runs.last_mut() {
            // By a heap: a tenth of the code of the standard library's sort.
            *run = BinaryHeap::from(core::mem::take(run)).into_sorted_vec();
        }
    }

    /// Whether `key` was noted; after [`Touched::close`].
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        let hash = xxh64(key, SEED);
        self.ranges.iter().any(|range| range.contains(key))
            || self.runs.iter().any(|run| run.binary_search(&hash).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_ranges_are_found_again() {
        let mut touched = Touched::default();
        for key in [b"b", b"a", b"b"] {
            touched.add(key);
        }
        touched.add_range(Range::prefix(b"x/"));
        touched.close();
        for (key, expected) in [("a", true), ("b", true), ("c", false), ("x/1", true), ("x", false)]
        {
            assert_eq!(touched.contains(key.as_bytes()), expected, "{key}");
        }
        touched.add(b"c");
        touched.close();
        assert!(touched.contains(b"c") && touched.contains(b"a"));
    }

    #[test]
    fn many_keys_are_found_again() {
        let mut touched = Touched::default();
        (0..100_000_u32).for_each(|key| touched.add(&(2 * key).to_le_bytes()));
        touched.close();
        let found = (0..200_000_u32).filter(|key| touched.contains(&key.to_le_bytes()));
        assert!(found.eq((0..200_000).step_by(2)));
    }
}
