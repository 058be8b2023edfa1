//! The hash that addresses chunks: BLAKE3-256.

use core::fmt;

/// Bytes in a hash.
pub const HASH_BYTES: usize = 32;

/// The address of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; HASH_BYTES]);

impl Hash {
    /// Stands for "no chunk": the root of an empty tree.
    pub const ZERO: Self = Self([0; HASH_BYTES]);

    /// Returns the hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Returns the hash of `bytes` under a key: collisions cannot be found without the key.
    #[must_use]
    pub fn keyed(key: &[u8; HASH_BYTES], bytes: &[u8]) -> Self {
        Self(*blake3::keyed_hash(key, bytes).as_bytes())
    }

    /// Reads the hash at the start of `bytes`, which must have at least 32 bytes.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut hash = [0; HASH_BYTES];
        hash.copy_from_slice(&bytes[..HASH_BYTES]);
        Self(hash)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}
