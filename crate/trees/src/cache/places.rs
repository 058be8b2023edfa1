//! The place of a chunk in a hash table: a keyed hash of all 32 bytes of its hash.

use crate::hash::{HASH_BYTES, Hash};
use crate::secret::Secret;

/// The keys of the hash.
#[derive(Clone, Copy)]
pub struct Places {
    words: [u64; HASH_BYTES / 8],
    odd: u64,
}

impl Places {
    pub fn new(secret: &Secret) -> Self {
        let word = |at: usize| secret.hash(&[at as u8]);
        Self { words: core::array::from_fn(word), odd: word(HASH_BYTES) | 1 }
    }

    /// Returns the place of a hash. Any two hashes collide for one in 2^32 keys: this is NH of UMAC
    /// (RFC 4418), and one multiplication to spread it.
    #[inline]
    pub fn of(&self, hash: &Hash) -> u64 {
        let (words, _) = hash.0.as_chunks();
        let mut sum = 0_u64;
        for (word, key) in words.iter().zip(&self.words) {
            let word = u64::from_le_bytes(*word);
            let low = (word as u32).wrapping_add(*key as u32);
            let high = ((word >> 32) as u32).wrapping_add((key >> 32) as u32);
            sum = sum.wrapping_add(u64::from(low).wrapping_mul(u64::from(high)));
        }
        let spread = sum.wrapping_mul(self.odd);
        spread ^ spread >> 32
    }
}
