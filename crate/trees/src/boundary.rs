//! The boundary function, which decides where a node ends.
//!
//! Let an entry take the bytes `a..b` of its node, counted from the first entry, and let `h`
//! be the 32-bit hash of its **key**, salted with the level. The node ends after it if
//!
//! 1. `h < (b^2 - a^2) * 2^32 / scale^2`. The chance rises with the size of the node, so that
//!    sizes are around the target (a Rayleigh distribution, which is the Weibull distribution of
//!    shape 2, with the mean [`Shape::target`]). In an internal node this holds from the second
//!    entry on, which bounds the height of a tree whose keys were mined;
//! 2. or the node has [`Shape::full`] bytes: a bound against keys mined to avoid rule 1.
//!
//! Entries *after* an entry do not affect the decision. So a node that is not the last of its level
//! ends there whatever follows, and an edit can relink every node that starts at a boundary.
//! Integers only: equal on every platform. `docs/decisions.md` has the alternatives that were
//! measured.

use xxhash_rust::xxh64::xxh64;

/// The fewest children of an internal node that is not the last of its level.
pub const MIN_CHILDREN: usize = 2;

/// The sizes that nodes should have, in bytes of their entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The average to aim for.
    pub target: u32,
    /// A node of this size ends after any entry.
    pub full: u32,
    /// The scale of the distribution.
    scale: u32,
}

impl Shape {
    /// The shape of every stored tree. Changing it changes every root.
    pub const STORED: Self = Self::with_target(4096);

    /// Returns the shape for an average of `target` bytes, from 64 to 4096.
    #[must_use]
    pub const fn with_target(target: u32) -> Self {
        // The mean of a Rayleigh distribution is scale * sqrt(pi) / 2.
        Self { target, full: 4 * target, scale: (target * 11_284 + 5000) / 10_000 }
    }

    /// Returns whether a node of `level` ends after the entry of `key`. The entry is the `nth` of the
    /// node, from 1, and takes the bytes `from..to` of its entries. Costs one hash of the key.
    #[must_use]
    pub fn ends(&self, level: u8, key: &[u8], from: usize, to: usize, nth: usize) -> bool {
        if level > 0 && nth < MIN_CHILDREN {
            return false;
        }
        let (from, to, scale) = (from as u64, to as u64, u64::from(self.scale));
        let hash = u64::from(key_hash(level, key));
        to >= u64::from(self.full) || hash * scale * scale < (to * to - from * from) << 32
    }
}

/// Returns the hash of `key` at `level` that decides boundaries: the upper half of XXH64, seeded
/// with the level.
#[must_use]
pub fn key_hash(level: u8, key: &[u8]) -> u32 {
    (xxh64(key, u64::from(level)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape::STORED;

    fn keys() -> impl Iterator<Item = [u8; 4]> {
        (0..20_000_u32).map(u32::to_be_bytes)
    }

    fn share(level: u8, from: usize, to: usize) -> f64 {
        let ended = keys().filter(|key| SHAPE.ends(level, key, from, to, 9)).count();
        f64::from(ended as u32) / 20_000.0
    }

    #[test]
    fn the_chance_rises_with_size_and_place() {
        assert_eq!(SHAPE.scale, 4622);
        let near = |got: f64, bytes: f64| (got - bytes / (4622.0 * 4622.0)).abs() < 0.01;
        assert!(near(share(0, 0, 1000), 1e6));
        assert!(near(share(0, 4000, 4150), 4150.0 * 4150.0 - 16e6));
        assert!(near(share(1, 8000, 8150), 8150.0 * 8150.0 - 64e6));
    }

    #[test]
    fn a_key_that_ends_a_node_ends_it_at_any_later_place() {
        for key in keys().take(5000) {
            let ends = |from| SHAPE.ends(0, &key, from, from + 100, 9);
            let places: [bool; 4] = [ends(0), ends(1000), ends(5000), ends(15_000)];
            assert!(places.is_sorted(), "{places:?}");
        }
    }

    #[test]
    fn a_full_node_ends_and_a_first_child_does_not() {
        for key in keys().take(100) {
            assert!(SHAPE.ends(0, &key, 16_000, 16_384, 2));
            assert!(SHAPE.ends(0, &key, 0, 5000, 1));
            assert!(!SHAPE.ends(1, &key, 0, 20_000, 1));
        }
    }

    #[test]
    fn levels_are_salted() {
        assert_ne!(key_hash(0, b"key"), key_hash(1, b"key"));
    }
}
