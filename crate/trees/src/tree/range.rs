//! A range of keys.

use crate::node::Leaf;
use alloc::vec::Vec;
use core::ops::Bound;

/// The keys between two bounds, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where it starts.
    pub lower: Bound<Vec<u8>>,
    /// Where it ends.
    pub upper: Bound<Vec<u8>>,
}

impl Range {
    /// All keys.
    pub const ALL: Self = Self { lower: Bound::Unbounded, upper: Bound::Unbounded };

    /// Returns the keys that start with `prefix`.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut after = prefix.to_vec();
        while after.last() == Some(&u8::MAX) {
            after.pop();
        }
        let upper = match after.last_mut() {
            Some(last) => {
                *last += 1;
                Bound::Excluded(after)
            }
            None => Bound::Unbounded,
        };
        Self { lower: Bound::Included(prefix.to_vec()), upper }
    }

    /// Returns the keys that are in both ranges.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lower = match (self.lower, other.lower) {
            (Bound::Unbounded, bound) | (bound, Bound::Unbounded) => bound,
            (Bound::Included(a), Bound::Included(b)) => Bound::Included(a.max(b)),
            (Bound::Excluded(a), Bound::Excluded(b)) => Bound::Excluded(a.max(b)),
            (Bound::Included(i), Bound::Excluded(e)) | (Bound::Excluded(e), Bound::Included(i)) => {
                if i > e {
                    Bound::Included(i)
                } else {
                    Bound::Excluded(e)
                }
            }
        };
        let upper = match (self.upper, other.upper) {
            (Bound::Unbounded, bound) | (bound, Bound::Unbounded) => bound,
            (Bound::Included(a), Bound::Included(b)) => Bound::Included(a.min(b)),
            (Bound::Excluded(a), Bound::Excluded(b)) => Bound::Excluded(a.min(b)),
            (Bound::Included(i), Bound::Excluded(e)) | (Bound::Excluded(e), Bound::Included(i)) => {
                if i < e {
                    Bound::Included(i)
                } else {
                    Bound::Excluded(e)
                }
            }
        };
        Self { lower, upper }
    }

    /// Returns whether `key` sorts before the range.
    #[must_use]
    pub fn key_is_before(&self, key: &[u8]) -> bool {
        match &self.lower {
            Bound::Included(lower) => key < &lower[..],
            Bound::Excluded(lower) => key <= &lower[..],
            Bound::Unbounded => false,
        }
    }

    /// Returns whether `key` is in the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        !self.key_is_before(key) && !self.key_is_after(key)
    }

    /// Returns whether `key` sorts after the range.
    #[must_use]
    pub fn key_is_after(&self, key: &[u8]) -> bool {
        match &self.upper {
            Bound::Included(upper) => key > &upper[..],
            Bound::Excluded(upper) => key >= &upper[..],
            Bound::Unbounded => false,
        }
    }

    /// Returns the first entry of `leaf` in the range and the one after the last.
    #[must_use]
    pub fn within(&self, leaf: &Leaf<'_>) -> (usize, usize) {
        let at = |from: usize, key: &[u8], through: bool| match leaf.search(from, key) {
            Ok(at) => at + usize::from(through),
            Err(at) => at,
        };
        let from = match &self.lower {
            Bound::Unbounded => 0,
            Bound::Included(key) => at(0, key, false),
            Bound::Excluded(key) => at(0, key, true),
        };
        let to = match &self.upper {
            Bound::Unbounded => leaf.len(),
            Bound::Included(key) => at(from, key, true),
            Bound::Excluded(key) => at(from, key, false),
        };
        (from, to)
    }

    /// Returns whether the range has no keys after `key`.
    #[must_use]
    pub fn ends_by(&self, key: &[u8]) -> bool {
        match &self.upper {
            Bound::Included(upper) | Bound::Excluded(upper) => key >= &upper[..],
            Bound::Unbounded => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(range: &Range, key: &[u8]) -> bool {
        !range.key_is_before(key) && !range.key_is_after(key)
    }

    #[test]
    fn a_prefix_range_holds_the_keys_with_that_prefix() {
        for prefix in [&b""[..], b"a", b"a\xff", b"\xff\xff", b"\x00"] {
            let range = Range::prefix(prefix);
            for key in [
                &b""[..],
                b"\x00",
                b"\x00\xff",
                b"a",
                b"a\xff",
                b"a\xff\x00",
                b"b",
                b"\xff\xff",
                b"\xff\xff\xff",
            ] {
                assert_eq!(holds(&range, key), key.starts_with(prefix), "{prefix:?} {key:?}");
            }
        }
    }

    #[test]
    fn an_intersection_holds_the_keys_of_both_ranges() {
        let keys: [&[u8]; 5] = [b"a", b"b", b"c", b"d", b"e"];
        let bound = |at: usize| match at {
            0 => Bound::Unbounded,
            _ if at.is_multiple_of(2) => Bound::Included(keys[at / 2].to_vec()),
            _ => Bound::Excluded(keys[at / 2].to_vec()),
        };
        let ranges: Vec<Range> = (0..10)
            .flat_map(|lower| (0..10).map(move |upper| (lower, upper)))
            .map(|(lower, upper)| Range { lower: bound(lower), upper: bound(upper) })
            .collect();
        for a in &ranges {
            for b in &ranges {
                let both = a.clone().and(b.clone());
                for key in keys {
                    assert_eq!(holds(&both, key), holds(a, key) && holds(b, key), "{a:?} {b:?}");
                }
            }
        }
    }
}
