//! A keyed hash, SipHash-1-3, for hash tables of untrusted data.
//!
//! Without knowledge of the key, texts cannot be chosen so that their hashes collide. The host draws the
//! key at random. Stored and returned data do not depend on it.
//!
//! Source: Aumasson and Bernstein, `SipHash: a fast short-input PRF`, 2012.

/// The key of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    key: [u64; 2],
}

impl Default for Secret {
    /// Returns [`Secret::PUBLIC`].
    fn default() -> Self {
        Self::PUBLIC
    }
}

impl Secret {
    /// A public key, for tests and for trusted data.
    pub const PUBLIC: Self = Self { key: [0, 0] };

    /// Makes a key of 128 random bits.
    #[must_use]
    pub const fn new(low: u64, high: u64) -> Self {
        Self { key: [low, high] }
    }

    /// Returns the hash of `bytes`.
    #[must_use]
    pub fn hash(&self, bytes: &[u8]) -> u64 {
        let [low, high] = self.key;
        let mut state = [
            low ^ 0x736f_6d65_7073_6575,
            high ^ 0x646f_7261_6e64_6f6d,
            low ^ 0x6c79_6765_6e65_7261,
            high ^ 0x7465_6462_7974_6573,
        ];
        let (words, rest) = bytes.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        last[7] = bytes.len() as u8;
        let last = u64::from_le_bytes(last);
        for word in words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]) {
            state[3] ^= word;
            round(&mut state);
            state[0] ^= word;
        }
        state[2] ^= 0xff;
        (0..3).for_each(|_| round(&mut state));
        state[0] ^ state[1] ^ state[2] ^ state[3]
    }
}

#[inline]
const fn round(state: &mut [u64; 4]) {
    let [mut a, mut b, mut c, mut d] = *state;
    a = a.wrapping_add(b);
    b = b.rotate_left(13) ^ a;
    a = a.rotate_left(32);
    c = c.wrapping_add(d);
    d = d.rotate_left(16) ^ c;
    a = a.wrapping_add(d);
    d = d.rotate_left(21) ^ a;
    c = c.wrapping_add(b);
    b = b.rotate_left(17) ^ c;
    c = c.rotate_left(32);
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::hash::Hasher;
    use std::hash::DefaultHasher;

    #[test]
    fn with_a_key_of_zeros_it_is_the_hash_of_the_standard_library() {
        let bytes: [u8; 256] = core::array::from_fn(|at| (at * 37) as u8);
        for len in 0..bytes.len() {
            let mut expected = DefaultHasher::new();
            expected.write(&bytes[..len]);
            assert_eq!(Secret::PUBLIC.hash(&bytes[..len]), expected.finish(), "{len} bytes");
        }
    }

    #[test]
    fn another_key_gives_another_hash() {
        let keys = [(0, 0), (1, 0), (0, 1), (1 << 63, 0)];
        let mut hashes: Vec<_> =
            keys.iter().map(|(low, high)| Secret::new(*low, *high).hash(b"text")).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), keys.len());
    }
}
