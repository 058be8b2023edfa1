//! Values, the check of them, and how a leaf stores them: inline, or out of line by a [`ValueRef`].

use crate::error::{DecodeError, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::json::{Scanner, TextFault, check_text};
use crate::le::u32_at;
use crate::limits::{MAX_INLINE_VALUE_BYTES, MAX_VALUE_BYTES};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// JSON text in normal form.
    Json,
    /// Bytes, which the store does not interpret.
    Bytes,
}

/// A value that may be stored: at most [`MAX_VALUE_BYTES`] bytes, of any content, or of JSON text in
/// normal form, nested at most [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH) deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'v> {
    kind: Kind,
    bytes: &'v [u8],
}

/// The reason not to store bytes as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFault {
    /// It is longer than [`MAX_VALUE_BYTES`].
    TooLarge,
    /// Its text may not be stored as JSON.
    Text(TextFault),
}

impl<'v> Value<'v> {
    /// Checks untrusted bytes as a value. Costs two passes over JSON text.
    ///
    /// # Errors
    /// The first fault.
    pub fn parse(kind: Kind, bytes: &'v [u8], scanner: &mut Scanner) -> Result<Self, ValueFault> {
        let value = Self::scanned(kind, bytes)?;
        if kind == Kind::Json {
            check_text(bytes, scanner).map_err(ValueFault::Text)?;
        }
        Ok(value)
    }

    /// Makes a value of bytes, or of text that a reader of rows has scanned and brought to normal form.
    ///
    /// # Errors
    /// [`ValueFault::TooLarge`].
    pub const fn scanned(kind: Kind, bytes: &'v [u8]) -> Result<Self, ValueFault> {
        let is_large = bytes.len() > MAX_VALUE_BYTES;
        if is_large { Err(ValueFault::TooLarge) } else { Ok(Self { kind, bytes }) }
    }

    /// Makes a value of bytes that were checked before, such as the values of a tree or of a batch.
    #[must_use]
    pub const fn trusted(kind: Kind, bytes: &'v [u8]) -> Self {
        debug_assert!(bytes.len() <= MAX_VALUE_BYTES, "no value is so long");
        Self { kind, bytes }
    }

    /// Returns its kind.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Returns the text, or the bytes.
    #[must_use]
    pub const fn bytes(self) -> &'v [u8] {
        self.bytes
    }
}

/// Bytes of a [`ValueRef`]: the length of the value as 32 bits, little-endian, and the hash of its only
/// piece or of its list of pieces.
pub const VALUE_REF_BYTES: usize = 4 + HASH_BYTES;

/// The two bits that a leaf stores with the length of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The kind of the value.
    pub kind: Kind,
    /// Whether the leaf has a [`ValueRef`] instead of the value.
    pub is_ref: bool,
}

impl Tag {
    pub(crate) const fn from_bits(bits: u16) -> Self {
        let kind = if bits & 1 == 0 { Kind::Json } else { Kind::Bytes };
        Self { kind, is_ref: bits & 2 != 0 }
    }

    pub(crate) const fn bits(self) -> u16 {
        let kind = match self.kind {
            Kind::Json => 0,
            Kind::Bytes => 1,
        };
        kind | if self.is_ref { 2 } else { 0 }
    }

    /// Returns the tag of a value.
    #[must_use]
    pub const fn of(value: Value<'_>) -> Self {
        Self { kind: value.kind, is_ref: value.bytes.len() > MAX_INLINE_VALUE_BYTES }
    }

    /// Checks the bytes that a leaf has at `at` for a value with this tag.
    pub(crate) fn check(self, held: &[u8], at: usize) -> Result<(), DecodeError> {
        let bad = |expected, got| {
            Err(DecodeError::new(Field::ValueLength, at, expected as u64, got as u64))
        };
        if !self.is_ref {
            let is_long = held.len() > MAX_INLINE_VALUE_BYTES;
            return if is_long { bad(MAX_INLINE_VALUE_BYTES, held.len()) } else { Ok(()) };
        }
        if held.len() != VALUE_REF_BYTES {
            return bad(VALUE_REF_BYTES, held.len());
        }
        let len = ValueRef::read(held).len as usize;
        if len <= MAX_INLINE_VALUE_BYTES || len > MAX_VALUE_BYTES {
            return bad(MAX_VALUE_BYTES, len);
        }
        Ok(())
    }
}

/// The reference to a value that is stored out of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRef {
    /// Bytes of the value.
    pub len: u32,
    /// The hash of its only piece, or of its list of pieces if it has several.
    pub hash: Hash,
}

impl ValueRef {
    /// Reads a reference; `bytes` has at least [`VALUE_REF_BYTES`].
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        Self { len: u32_at(bytes, 0), hash: Hash::read(&bytes[4..]) }
    }

    /// Returns the reference as it is stored.
    #[must_use]
    pub fn bytes(&self) -> [u8; VALUE_REF_BYTES] {
        let mut bytes = [0; VALUE_REF_BYTES];
        bytes[..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4..].copy_from_slice(&self.hash.0);
        bytes
    }
}
