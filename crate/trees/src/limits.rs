//! Hard limits, for all data from callers, disks and peers.
//!
//! Each is checked in one place: by the constructor of a type that encoders and decoders both take
//! ([`Key`](crate::key::Key), [`Value`](crate::value::Value)), or by the one function that reads or
//! makes the limited data. So everything that is written can be read.

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 1024;

/// Largest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// Largest value that is inline in its leaf, in bytes; a larger one is stored in chunks of its own.
pub const MAX_INLINE_VALUE_BYTES: usize = 4096;

/// Bytes of a value in one piece chunk. Every piece has exactly this many, except for a value's last.
pub const PIECE_BYTES: usize = 64 << 10;

/// Highest level of an internal node. Internal nodes have at least two children (the
/// last of a level excepted), so that 2^40 leaves would be needed to reach it.
pub const MAX_LEVEL: u8 = 40;

/// Most entries of a tree: so that adding counts cannot overflow.
pub const MAX_ENTRIES: u64 = 1 << 48;

/// A segment is sealed as soon as it holds this many bytes.
pub const SEGMENT_BYTES: usize = 512 << 10;

/// A segment below this is small: a collection joins small ones if there are many.
pub const SMALL_SEGMENT_BYTES: usize = 64 << 10;

/// Segments below this are read as a whole; adapters can read parts of longer ones, without the rest.
pub const LEAST_BYTES_FOR_PARTS: usize = 64 << 10;

/// Bytes of the smallest chunk: the last piece of a value has its two bytes of header and one more.
pub const MIN_CHUNK_BYTES: usize = 3;

/// Most chunks in one segment: as many as fit before it is sealed.
pub const MAX_SEGMENT_CHUNKS: usize = SEGMENT_BYTES.div_ceil(MIN_CHUNK_BYTES);

/// Longest chunk that is packed in a segment: its two bytes of header, and a whole piece. No leaf is longer.
pub const MAX_PACKED_CHUNK_BYTES: usize = 2 + PIECE_BYTES;

/// Most trees in one forest: the rows, their indexes and the sum trees.
pub const MAX_TREES: usize = 1024;

/// Largest commit chunk, in bytes. It is added to a segment of less than [`SEGMENT_BYTES`], which must
/// then not be too large for an export.
pub const MAX_COMMIT_BYTES: usize = SEGMENT_BYTES;

/// Longest name of a tree, in bytes of UTF-8.
pub const MAX_TREE_NAME_BYTES: usize = 255;

/// Longest definition of a sum tree that follows rows, in bytes.
pub const MAX_SUM_DEFINITION_BYTES: usize = 984;

/// Most columns of an index.
pub const MAX_COLUMNS: usize = 8;

/// Most bytes of the entries that an array of one row has in one index.
pub const MAX_ROW_ENTRIES_BYTES: usize = 256 << 10;

/// Bytes of entries that an array may have in an index for each byte of its row's key and value, on top
/// of [`FREE_ROW_ENTRIES_BYTES`]: so that an index does not grow much larger than its rows.
pub const ROW_ENTRIES_FACTOR: usize = 32;
/// Bytes of entries that any row may have in an index, see [`ROW_ENTRIES_FACTOR`].
pub const FREE_ROW_ENTRIES_BYTES: usize = 4 << 10;

/// Longest text of a row in a stream of bytes, including spaces and escapes.
pub const MAX_ROW_TEXT_BYTES: usize = MAX_VALUE_BYTES + (64 << 10);

/// Longest value of a leaf of a sum tree, in bytes: it is hashed in one step.
pub const MAX_SUM_VALUE_BYTES: usize = 1 << 20;

/// Most bytes of a proof, and of the entries that it proves.
pub const MAX_PROOF_BYTES: usize = 128 << 20;

/// Most bytes of a delta: so that one with the largest value fits.
pub const MAX_DELTA_BYTES: usize = 128 << 20;

/// Deepest nesting of a JSON value, counted from its root. A container without members does not count.
pub const MAX_JSON_DEPTH: usize = 512;
