//! The set of keys that a change has touched, whether or not it changed them.
//!
//! Keys are kept as 64-bit hashes, eight bytes each. A key with the hash of a touched key counts as
//! touched, too. Among a million touched keys and a million others, the chance of that is one in 10^7.
//! Without knowledge of the secret, such keys cannot be chosen.

use crate::secret::Secret;
use crate::tree::Range;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// The number of hashes that are sorted at once.
const RUN: usize = 1 << 11;

/// Runs of equal length below this are merged, so that few are left to search.
const LONGEST_RUN: usize = 1 << 15;

/// The cost of sorting a hash, and of merging one.
const SORT_COST: usize = 24;
const MERGE_COST: usize = 4;

/// The cost of searching a run, or checking a range.
const SEARCH_COST: usize = 32;

/// The set of keys that a change has touched, whether or not it changed them.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    secret: Secret,
    /// Hashes that are not sorted yet.
    open: Vec<u64>,
    /// Runs of hashes, each sorted.
    runs: Vec<Vec<u64>>,
    ranges: Vec<Range>,
}

impl Touched {
    /// Makes an empty set; keys are hashed with `secret`.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self { secret, ..Self::default() }
    }

    /// Adds a key; returns the cost besides reading it.
    pub fn add(&mut self, key: &[u8]) -> usize {
        self.open.push(self.secret.hash(key));
        if self.open.len() == RUN { self.close() } else { 0 }
    }

    /// Adds all keys of a range.
    pub fn add_range(&mut self, range: Range) {
        self.ranges.push(range);
    }

    /// Adds all keys.
    pub fn add_all(&mut self) {
        *self = Self::new(self.secret);
        self.add_range(Range::ALL);
    }

    /// Sorts the open hashes, so that [`Touched::contains`] finds them; returns the cost.
    pub fn close(&mut self) -> usize {
        if self.open.is_empty() {
            return 0;
        }
        // A heap sorts with a tenth of the code of the standard library's sort.
        let mut run = BinaryHeap::from(core::mem::take(&mut self.open)).into_sorted_vec();
        let mut cost = SORT_COST * run.len();
        while run.len() < LONGEST_RUN
            && let Some(other) = self.runs.pop_if(|other| other.len() == run.len())
        {
            run = merged(&run, &other);
            cost += MERGE_COST * run.len();
        }
        self.runs.push(run);
        cost
    }

    /// Returns the cost of [`Touched::contains`].
    #[must_use]
    pub const fn cost(&self) -> usize {
        SEARCH_COST * (self.runs.len() + self.ranges.len())
    }

    /// Returns whether `key` was added. Call [`Touched::close`] before.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        let hash = self.secret.hash(key);
        self.ranges.iter().any(|range| range.contains(key))
            || self.runs.iter().any(|run| run.binary_search(&hash).is_ok())
    }
}

/// Merges two sorted lists.
fn merged(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut rest = b;
    for hash in a {
        while let Some((first, after)) = rest.split_first().filter(|(first, _)| *first < hash) {
            merged.push(*first);
            rest = after;
        }
        merged.push(*hash);
    }
    merged.extend_from_slice(rest);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use core::ops::Bound;

    const SECRET: Secret = Secret::new(7, 9);

    #[test]
    fn keys_and_ranges_are_found_again() {
        let mut touched = Touched::new(SECRET);
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
        touched.add_all();
        assert!(touched.contains(b"anything"));
    }

    #[test]
    fn many_keys_are_found_again_in_few_runs() {
        let mut touched = Touched::new(SECRET);
        let cost: usize = (0..300_000_u32).map(|key| touched.add(&(2 * key).to_le_bytes())).sum();
        let cost = cost + touched.close();
        let found = (0..600_000_u32).filter(|key| touched.contains(&key.to_le_bytes()));
        assert!(found.eq((0..600_000).step_by(2)));
        assert!(touched.runs.len() <= 300_000 / LONGEST_RUN + 8, "{} runs", touched.runs.len());
        assert_eq!(touched.cost(), SEARCH_COST * touched.runs.len());
        // Each hash is sorted once, and merged each time its run doubles.
        assert!((SORT_COST..SORT_COST + 5 * MERGE_COST).contains(&(cost / 300_000)));
    }

    /// Keys that collide under XXH64 for half of all seeds: two words of one lane differ so that the
    /// second cancels the effect of the first.
    #[test]
    fn keys_that_collide_under_another_hash_for_many_seeds_do_not_collide() {
        use xxhash_rust::xxh64::xxh64;
        let prime = 0xc2b2_ae3d_27d4_eb4f_u64;
        let inverse = {
            let mut inverse = 1_u64;
            (0..6).for_each(|_| {
                inverse = inverse.wrapping_mul(2_u64.wrapping_sub(prime.wrapping_mul(inverse)));
            });
            inverse
        };
        // The top bit of the first word inverts bit 30 of the state, after its rotation.
        let step = (1_u64 << 30).wrapping_mul(0x9e37_79b1_85eb_ca87).wrapping_mul(inverse);
        let key = |turned: bool, sign: bool| {
            let mut key = [b'k'; 64];
            let first = u64::from_le_bytes([b'a'; 8]) ^ if turned { 1 << 63 } else { 0 };
            let second = u64::from_le_bytes([b'm'; 8]);
            let second = match (turned, sign) {
                (false, _) => second,
                (true, true) => second.wrapping_sub(step),
                (true, false) => second.wrapping_add(step),
            };
            key[..8].copy_from_slice(&first.to_le_bytes());
            key[32..40].copy_from_slice(&second.to_le_bytes());
            key
        };
        let collides =
            |seed: u64, sign: bool| xxh64(&key(false, sign), seed) == xxh64(&key(true, sign), seed);
        let seeds = (1..=1000_u64).map(|at| at.wrapping_mul(prime));
        let count = seeds.filter(|seed| collides(*seed, true)).count();
        assert!((200..=800).contains(&count), "{count} of 1,000 seeds");
        for seed in 0..1000 {
            let mut touched = Touched::new(Secret::new(seed, 0));
            touched.add(&key(false, true));
            touched.close();
            assert!(!touched.contains(&key(true, true)) && !touched.contains(&key(true, false)));
        }
    }

    #[test]
    fn a_search_costs_in_proportion_to_runs_and_ranges() {
        let mut touched = Touched::new(SECRET);
        for at in 0..10 {
            let bound = |end: u32| Bound::Included(format!("{at}/{end}").into_bytes());
            touched.add_range(Range { lower: bound(0), upper: bound(1) });
        }
        assert_eq!(touched.cost(), 10 * SEARCH_COST);
    }
}
