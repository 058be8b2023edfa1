//! Hard limits. Whatever arrives, from a caller, a disk or a peer, stays within these.

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 1024;

/// Largest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// Largest value that a leaf holds itself; a larger one becomes chunks of its own.
pub const MAX_INLINE_VALUE_BYTES: usize = 4096;

/// Bytes of a value in one piece chunk; every piece but a value's last has exactly so many.
pub const PIECE_BYTES: usize = 64 << 10;

/// Largest chunk of any kind. Offsets inside a node are 16 bits wide.
pub const MAX_CHUNK_BYTES: usize = PIECE_BYTES + 16;

/// Highest level of an internal node. Internal nodes have at least two children (the
/// last of a level excepted), so that 2^40 leaves would be needed to reach it.
pub const MAX_LEVEL: u8 = 40;

/// Most entries of a tree: what adding to a count cannot overflow.
pub const MAX_ENTRIES: u64 = 1 << 48;

/// A segment is sealed as soon as it holds this many bytes.
pub const SEGMENT_BYTES: usize = 512 << 10;

/// Most chunks in one segment: the smallest chunk has five bytes.
pub const MAX_SEGMENT_CHUNKS: usize = 1 << 17;

/// Most trees in one forest.
pub const MAX_TREES: usize = 1024;

/// Longest name of a tree, in bytes of UTF-8.
pub const MAX_TREE_NAME_BYTES: usize = 255;

/// Most columns of an index.
pub const MAX_COLUMNS: usize = 8;

/// Most bytes of the entries that one row has in one index.
pub const MAX_ROW_ENTRIES_BYTES: usize = 256 << 10;

/// Bytes of entries that a row may have in an index for each byte of its key and value, and bytes that
/// it may have in any case: an array is not to buy more room than it takes.
pub const ROW_ENTRIES_FACTOR: usize = 32;
/// See [`ROW_ENTRIES_FACTOR`].
pub const FREE_ROW_ENTRIES_BYTES: usize = 4 << 10;

/// Longest text of a row in a stream of bytes, where spaces and escapes may come on top of
/// key and value.
pub const MAX_ROW_TEXT_BYTES: usize = MAX_VALUE_BYTES + (64 << 10);

/// Longest value of a leaf of a sum tree: it is hashed in one go.
pub const MAX_SUM_VALUE_BYTES: usize = 1 << 20;

/// Most bytes of a proof, and of the entries that it proves.
pub const MAX_PROOF_BYTES: usize = 128 << 20;

/// Deepest nesting of a JSON value.
pub const MAX_JSON_DEPTH: usize = 512;
