//! Errors: [`DecodeError`] for malformed bytes, [`Error`] for failed operations.

use crate::hash::Hash;
use core::fmt;

/// The malformed part of a chunk or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The first byte: the kind of a chunk, or the level of a node.
    Kind,
    /// The version of the format.
    Version,
    /// The number of members.
    Count,
    /// The length of the whole.
    Length,
    /// An offset in a table of offsets.
    Offset,
    /// The length of a key.
    KeyLength,
    /// A key that is not valid UTF-8.
    KeyText,
    /// A key that does not sort after the one before it.
    KeyOrder,
    /// The length of a value.
    ValueLength,
    /// A cumulative entry count that does not grow.
    EntryCount,
    /// The level of a child is not one less than its parent's.
    ChildLevel,
    /// The last key of a child is not the one that its parent names.
    ChildKey,
    /// The entry count of a child is not the one that its parent names.
    ChildCount,
    /// A node that does not end where the boundary function ends it.
    Boundary,
    /// A JSON value that is not JSON.
    ValueText,
    /// The sum of a part of a sum tree is not the one that its parent or its commit names.
    Sum,
    /// The hash of a part of a sum tree is not the one that its parent or its commit names.
    SumHash,
}

/// A fault in bytes: where it is, what was expected and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// The malformed part.
    pub field: Field,
    /// Where it starts, in bytes from the start of the chunk or table.
    pub offset: usize,
    /// The value expected (a bound, where a range is allowed).
    pub expected: u64,
    /// The value found.
    pub got: u64,
}

impl DecodeError {
    /// Makes a fault at `offset`.
    #[must_use]
    pub const fn new(field: Field, offset: usize, expected: u64, got: u64) -> Self {
        Self { field, offset, expected, got }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, offset, expected, got } = self;
        write!(f, "{field:?} at byte {offset}: expected {expected}, got {got}")
    }
}

impl core::error::Error for DecodeError {}

/// The reason to refuse a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowFault {
    /// The key is not a string.
    KeyNotString,
    /// The row has no member under the key pointer.
    KeyMissing,
    /// The key is longer than [`MAX_KEY_BYTES`](crate::limits::MAX_KEY_BYTES).
    KeyTooLong,
    /// The key holds half of a surrogate pair.
    KeyLoneSurrogate,
    /// The value is larger than [`MAX_VALUE_BYTES`](crate::limits::MAX_VALUE_BYTES).
    ValueTooLarge,
    /// The value nests deeper than [`MAX_JSON_DEPTH`](crate::limits::MAX_JSON_DEPTH).
    TooDeep,
    /// The text is not JSON.
    Syntax,
    /// The row is not an operation of a patch.
    NoOperation,
    /// The operation has no `value` to put, or a change no `newValue`.
    ValueMissing,
    /// The `merge` of an update is not an object.
    MergeNotObject,
    /// The `constrain` or the `unset` of an update is not a list of names.
    NotNames,
    /// The value of the row to update is not an object.
    NotObject,
    /// A number in the value is too large for a double.
    NumberTooLarge,
    /// The operation is a change of an index, not of rows.
    IndexEntry,
    /// A `clear`, which deletes all rows, has a key or a bound.
    ClearBounded,
    /// An `update` has a `newValue`, and members to merge, keep or remove.
    UpdateTwice,
}

/// A failed operation. The store is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A row was refused.
    Row {
        /// Position of the row in its source, from 0.
        row: u64,
        /// Byte offset in the block that was fed, or in the stream of bytes.
        offset: u64,
        /// The reason.
        fault: RowFault,
    },
    /// This chunk is in no known segment.
    MissingChunk(Hash),
    /// The stored bytes of a chunk do not have its hash (`cause` is `None`), or are malformed.
    CorruptChunk {
        /// The hash of the chunk.
        hash: Hash,
        /// The fault of its form.
        cause: Option<DecodeError>,
    },
    /// A chunk was written by a later version of this library.
    UnsupportedFormat {
        /// The version found.
        version: u8,
    },
    /// The total of a sum tree would exceed 64 bits.
    SumOverflow,
    /// Two rows have the same key in a sum tree.
    SumKeyTwice,
    /// The sum that a row has for a sum tree is not a whole number of at most 64 bits.
    SumNotWhole,
    /// The text that a row has for the key of a sum tree holds half of a surrogate pair.
    SumKeyNotText,
    /// The value that a row has for a sum tree is longer than
    /// [`MAX_SUM_VALUE_BYTES`](crate::limits::MAX_SUM_VALUE_BYTES).
    SumValueTooLarge,
    /// A commit would name more than [`MAX_TREES`](crate::limits::MAX_TREES), or take more than
    /// [`MAX_COMMIT_BYTES`](crate::limits::MAX_COMMIT_BYTES).
    CommitTooLarge,
    /// The proof does not prove this range under this root.
    InvalidProof,
    /// A proof would take more than [`MAX_PROOF_BYTES`](crate::limits::MAX_PROOF_BYTES).
    ProofTooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row { row, offset, fault } => write!(f, "row {row}, byte {offset}: {fault:?}"),
            Self::MissingChunk(hash) => write!(f, "missing chunk {hash}"),
            Self::CorruptChunk { hash, cause: None } => {
                write!(f, "chunk {hash} does not have its hash")
            }
            Self::CorruptChunk { hash, cause: Some(cause) } => {
                write!(f, "chunk {hash} is malformed: {cause}")
            }
            Self::UnsupportedFormat { version } => write!(f, "format version {version}"),
            Self::SumOverflow => f.write_str("sum overflow"),
            Self::SumKeyTwice => f.write_str("two rows of one sum key"),
            Self::SumNotWhole => f.write_str("no whole sum"),
            Self::SumKeyNotText => f.write_str("half of a surrogate pair in a sum key"),
            Self::SumValueTooLarge => f.write_str("the value of a sum tree is too large"),
            Self::CommitTooLarge => f.write_str("too many trees for a commit"),
            Self::InvalidProof => f.write_str("invalid proof"),
            Self::ProofTooLarge => f.write_str("proof too large"),
        }
    }
}

impl core::error::Error for Error {}
