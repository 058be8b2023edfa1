//! Hard limits. Whatever arrives, from a caller, a disk or a peer, stays within these.
//!
//! Each is applied in one place: by the constructor of a type that encoders and decoders both take
//! ([`Key`](crate::key::Key), [`Value`](crate::value::Value)), or by the one function that reads or
//! makes what it bounds. So what may be written can be read.

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 1024;

/// Largest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// Largest value that a leaf holds itself; a larger one becomes chunks of its own.
pub const MAX_INLINE_VALUE_BYTES: usize = 4096;

/// Bytes of a value in one piece chunk; every piece but a value's last has exactly so many.
pub const PIECE_BYTES: usize = 64 << 10;

/// Highest level of an internal node. Internal nodes have at least two children (the
/// last of a level excepted), so that 2^40 leaves would be needed to reach it.
pub const MAX_LEVEL: u8 = 40;

/// Most entries of a tree: what adding to a count cannot overflow.
pub const MAX_ENTRIES: u64 = 1 << 48;

/// A segment is sealed as soon as it holds this many bytes.
pub const SEGMENT_BYTES: usize = 512 << 10;

/// Bytes of the smallest chunk: the last piece of a value has its two bytes of header and one more.
pub const MIN_CHUNK_BYTES: usize = 3;

/// Most chunks in one segment: as many as fit before it is sealed.
pub const MAX_SEGMENT_CHUNKS: usize = SEGMENT_BYTES.div_ceil(MIN_CHUNK_BYTES);

/// Most trees in one forest: the rows, their indexes and the sum trees.
pub const MAX_TREES: usize = 1024;

/// Largest commit chunk, in bytes: it names all trees, with what is told of each. A segment of less
/// than [`SEGMENT_BYTES`] that takes it up stays within what an export allows.
pub const MAX_COMMIT_BYTES: usize = SEGMENT_BYTES;

/// Longest name of a tree, in bytes of UTF-8.
pub const MAX_TREE_NAME_BYTES: usize = 255;

/// Longest definition of a sum tree that follows rows, in bytes.
pub const MAX_SUM_DEFINITION_BYTES: usize = 984;

/// Most columns of an index.
pub const MAX_COLUMNS: usize = 8;

/// Longest text of a row in a stream of bytes, where spaces and escapes may come on top of
/// key and value.
pub const MAX_ROW_TEXT_BYTES: usize = MAX_VALUE_BYTES + (64 << 10);

/// Longest value of a leaf of a sum tree: it is hashed in one go.
pub const MAX_SUM_VALUE_BYTES: usize = 1 << 20;

/// Most bytes of a proof, and of the entries that it proves.
pub const MAX_PROOF_BYTES: usize = 128 << 20;

/// Deepest nesting of a JSON value, counted from its root. A container without members does not count.
pub const MAX_JSON_DEPTH: usize = 512;
