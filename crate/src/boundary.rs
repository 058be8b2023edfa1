//! The one place that says where a node ends.
//!
//! A node ends after an entry when one of these holds, in this order:
//!
//! 1. it has fewer than [`MIN_ENTRIES`] entries: never;
//! 2. the level-salted hash of the entry's **key** is below a threshold set by the class
//!    of the entry's **size** (two classes to an octave), chosen so that nodes average
//!    [`Shape::target`] bytes. No history, no neighbours: an edit elsewhere cannot move
//!    this boundary, and a value that grows or shrinks rarely does;
//! 3. the node has at least [`Shape::soft`] bytes, and the entry's hash is lower than that
//!    of every entry before it in the node;
//! 4. the node has at least [`Shape::full`] bytes.
//!
//! Nothing *after* an entry takes part in the decision. So a node that is not the last of
//! its level ends there whatever follows it, and a tree can be edited by relinking every
//! node that starts at a boundary. Rule 3 keeps boundaries tied to contents where keys
//! were chosen to dodge rule 2; rule 4 bounds a node against keys chosen to dodge both.

use xxhash_rust::xxh64::xxh64;

/// A node that is not the last of its level has at least so many entries: this is what
/// bounds the height of a tree whose keys were mined to be boundaries at every level.
pub const MIN_ENTRIES: usize = 2;

/// The sizes that nodes should have, in bytes of their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The average to aim for.
    pub target: u32,
    /// From here on any entry with the lowest hash so far ends the node.
    pub soft: u32,
    /// From here on any entry ends the node.
    pub full: u32,
}

impl Shape {
    /// The shape of every stored tree. Changing it changes every root.
    pub const STORED: Self = Self::with_target(4096);

    /// The shape for an average of `target` bytes: at least 64, at most 4096.
    #[must_use]
    pub const fn with_target(target: u32) -> Self {
        Self { target, soft: 4 * target, full: 8 * target }
    }

    /// The bound under which the hash of an entry of `size` bytes ends a node.
    #[must_use]
    pub fn threshold(&self, size: usize) -> u32 {
        if size >= self.target as usize {
            return u32::MAX;
        }
        let size = (size as u64).max(4);
        let octave = size.ilog2();
        let upper_half = (size >> (octave - 1)) & 1;
        // The middle of the class, in quarters of the octave's start: 5/4 or 7/4.
        let middle = ((5 + 2 * upper_half) << octave) / 4;
        u32::try_from((middle << 32) / u64::from(self.target)).unwrap_or(u32::MAX)
    }
}

/// The hash of `key` at `level`, from which boundaries are taken: the upper half of XXH64
/// seeded with the level.
#[must_use]
pub fn key_hash(level: u8, key: &[u8]) -> u32 {
    (xxh64(key, u64::from(level)) >> 32) as u32
}

/// What a node in the making must remember for its boundary.
#[derive(Clone, Copy, Debug)]
pub struct Splitter {
    shape: Shape,
    level: u8,
    lowest: u32,
}

impl Splitter {
    /// A splitter for nodes of `level`, at the start of one.
    #[must_use]
    pub const fn new(shape: Shape, level: u8) -> Self {
        Self { shape, level, lowest: u32::MAX }
    }

    /// Starts the next node.
    pub const fn restart(&mut self) {
        self.lowest = u32::MAX;
    }

    /// Size from which on [`Splitter::ends`] needs to have seen every entry of the node.
    #[must_use]
    pub const fn soft(&self) -> usize {
        self.shape.soft as usize
    }

    /// Whether a node ends after the entry of `key`, which takes `size` bytes of it and is
    /// its `entries`-th, at `node` bytes in all. Costs one hash of the key.
    pub fn ends(&mut self, key: &[u8], size: usize, entries: usize, node: usize) -> bool {
        let hash = key_hash(self.level, key);
        let below = hash < self.lowest;
        if below {
            self.lowest = hash;
        }
        entries >= MIN_ENTRIES
            && (hash < self.shape.threshold(size)
                || (below && node >= self.shape.soft as usize)
                || node >= self.shape.full as usize)
    }

    /// Takes the hash of an entry of the node into account that [`Splitter::ends`] was not
    /// asked about, because it is known not to be a boundary by its own hash.
    pub fn note(&mut self, key: &[u8]) {
        self.lowest = self.lowest.min(key_hash(self.level, key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_grows_with_the_size_and_is_stable_within_a_class() {
        let shape = Shape::STORED;
        assert_eq!(shape.threshold(128), shape.threshold(191));
        assert!(shape.threshold(191) < shape.threshold(192));
        assert_eq!(shape.threshold(192), shape.threshold(255));
        assert_eq!(shape.threshold(128), u32::MAX / 4096 * 160 + 160);
    }

    #[test]
    fn an_entry_as_large_as_the_target_always_ends_a_node_of_two() {
        assert_eq!(Shape::STORED.threshold(4096), u32::MAX);
        assert_eq!(Shape::STORED.threshold(usize::MAX >> 8), u32::MAX);
    }

    #[test]
    fn levels_are_salted() {
        assert_ne!(key_hash(0, b"key"), key_hash(1, b"key"));
    }
}
