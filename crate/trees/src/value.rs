//! How a leaf holds a value: itself, or the address of chunks that hold it.

use crate::hash::{HASH_BYTES, Hash};
use crate::limits::MAX_INLINE_VALUE_BYTES;

/// What the bytes of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// JSON text in normal form.
    Json,
    /// Bytes that mean nothing to the store.
    Bytes,
}

/// Bytes of the address that stands for a value stored out of line: its length as 32 bits,
/// little-endian, then the hash of its only piece or of its list of pieces.
pub const FAR_BYTES: usize = 4 + HASH_BYTES;

/// The two bits that a leaf keeps beside the length of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// What the value's bytes are.
    pub kind: Kind,
    /// Whether the leaf holds a [`Far`] address in place of the value.
    pub far: bool,
}

impl Tag {
    pub(crate) const fn from_bits(bits: u16) -> Self {
        let kind = if bits & 1 == 0 { Kind::Json } else { Kind::Bytes };
        Self { kind, far: bits & 2 != 0 }
    }

    pub(crate) const fn bits(self) -> u16 {
        let kind = match self.kind {
            Kind::Json => 0,
            Kind::Bytes => 1,
        };
        kind | if self.far { 2 } else { 0 }
    }

    /// The tag of a value of `len` bytes.
    #[must_use]
    pub const fn of(kind: Kind, len: usize) -> Self {
        Self { kind, far: len > MAX_INLINE_VALUE_BYTES }
    }
}

/// The address of a value stored out of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    /// Bytes of the value.
    pub len: u32,
    /// The only piece, or the list of pieces when there are several.
    pub hash: Hash,
}

impl Far {
    /// Reads an address; `bytes` holds exactly [`FAR_BYTES`].
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut len = [0; 4];
        len.copy_from_slice(&bytes[..4]);
        Self { len: u32::from_le_bytes(len), hash: Hash::read(&bytes[4..]) }
    }

    /// The address as it is stored.
    #[must_use]
    pub fn bytes(&self) -> [u8; FAR_BYTES] {
        let mut bytes = [0; FAR_BYTES];
        bytes[..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4..].copy_from_slice(&self.hash.0);
        bytes
    }
}
