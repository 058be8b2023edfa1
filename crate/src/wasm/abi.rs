//! Every number that both sides of the boundary use: statuses, flags, states, and the position of each
//! word of a reply. `scripts/write-abi.mjs` writes `js/hedgerow/src/base/abi/` from this file, and `npm test` fails
//! when that is out of date. Add a number here, then run the script.
//!
//! The script reads constants of modules (a number, or a shift of one) and the table of replies at the end.

#![allow(
    dead_code,
    reason = "some numbers are named by the host only: here they are the remaining case"
)]

use crate::chunk::{ChunkKind, HEADER_BYTES, pieces_of};
use crate::error::Field;
use crate::hash::HASH_BYTES;
use crate::value::VALUE_REF_BYTES;
use crate::{limits, node};

/// The answer of a call.
pub mod status {
    /// Finished.
    pub const DONE: u32 = 0;
    /// Parts of segments must be loaded first. Reply: `Numbers`, three for each part: the id of its segment, and where
    /// it begins and ends; 0 and 0 for the whole segment. If a remote has the chunk, its end is negative. For a chunk
    /// whose table has not come: `need::NO_SEGMENT`, the first bytes of its hash, and 1; with 0 and 0 for all tables
    /// that have not come.
    pub const NEED: u32 = 1;
    /// The budget is spent.
    pub const YIELD: u32 = 2;
    /// The value is out of line.
    pub const FAR: u32 = 3;
    /// There is a segment. Reply: `Segment`.
    pub const SEGMENT: u32 = 4;
    /// A row was refused. Reply: `RowFault`. This is the lowest error: smaller numbers are not errors.
    pub const ROW: u32 = 16;
    /// A chunk is in no segment. Reply: `ChunkFault` with its hash only.
    pub const MISSING_CHUNK: u32 = 17;
    /// A chunk is damaged. Reply: `ChunkFault`; its field is -1 when the hash is wrong.
    pub const CORRUPT_CHUNK: u32 = 18;
    /// A chunk is of a later format. Reply: `FormatFault`.
    pub const UNSUPPORTED_FORMAT: u32 = 19;
    /// A table is malformed. Reply: `ChunkFault` without a hash.
    pub const MALFORMED: u32 = 20;
    /// A proof does not verify.
    pub const INVALID_PROOF: u32 = 21;
    /// A proof would be too large.
    pub const PROOF_TOO_LARGE: u32 = 22;
    /// The total of a sum tree does not fit.
    pub const SUM_OVERFLOW: u32 = 23;
    /// Two rows have the same key in a sum tree. Reply: `SumFault`, as for the next three.
    pub const SUM_KEY_TWICE: u32 = 24;
    /// The sum of a row is not a whole number.
    pub const SUM_NOT_WHOLE: u32 = 25;
    /// The key of a row's sum has half of a surrogate pair.
    pub const SUM_KEY_NOT_TEXT: u32 = 26;
    /// The value of a row is too large for a sum tree.
    pub const SUM_VALUE_TOO_LARGE: u32 = 27;
    /// A commit would name too many trees.
    pub const COMMIT_TOO_LARGE: u32 = 28;
    /// No operation was started.
    pub const NO_OP: u32 = 0xffff_ffff;
}

/// Marks of parts that must be loaded first.
pub mod need {
    /// In place of the id of a segment: a table is wanted.
    pub const NO_SEGMENT: i32 = -1;
}

/// Flags of a read. The bits above them are the number of an index, from 1.
pub mod read_flag {
    /// Descending order.
    pub const REVERSE: u32 = 1;
    /// Keys are wanted.
    pub const KEYS: u32 = 2;
    /// Values are wanted.
    pub const VALUES: u32 = 4;
    /// The range has a prefix.
    pub const PREFIX: u32 = 8;
    /// The range has a lower bound, inclusive.
    pub const GTE: u32 = 1 << 4;
    /// The range has a lower bound, exclusive.
    pub const GT: u32 = 1 << 5;
    /// The range has an upper bound, inclusive.
    pub const LTE: u32 = 1 << 6;
    /// The range has an upper bound, exclusive.
    pub const LT: u32 = 1 << 7;
    /// Secondary keys are wanted.
    pub const SECONDARY: u32 = 1 << 8;
    /// The lowest bit of the number of an index; number 0 reads rows.
    pub const INDEX_SHIFT: u32 = 9;
}

/// Flags of a collection.
pub mod collect_flag {
    /// Only mark: do not move or delete chunks.
    pub const SURVEY: u32 = 1;
    /// Collect all dead chunks.
    pub const FULL: u32 = 2;
    /// The store is idle.
    pub const REST: u32 = 4;
    /// Little space is left.
    pub const SPARING: u32 = 8;
}

/// The format of a block of rows: what its members are.
pub mod block_format {
    /// `[key, value, …]`.
    pub const PAIRS: u32 = 0;
    /// Objects that hold their key.
    pub const ROWS: u32 = 1;
    /// Keys of rows to delete.
    pub const DELETES: u32 = 2;
    /// Operations of a patch.
    pub const PATCH: u32 = 3;
}

/// How a stream of bytes is divided into rows.
pub mod framing {
    /// The first bytes decide.
    pub const UNKNOWN: u32 = 0;
    /// One row in each line.
    pub const LINES: u32 = 1;
    /// Members of one array.
    pub const ARRAY: u32 = 2;
}

/// The shape of rows in a stream of bytes, passed instead of the length of a pointer to their key.
pub mod streamed_row_kind {
    /// `[key, value]`.
    pub const PAIR: i32 = -1;
    /// Operations of a patch.
    pub const PATCH: i32 = -2;
}

/// The kind of the value under a key.
pub mod value_kind {
    /// No value.
    pub const ABSENT: u32 = 0;
    /// JSON text.
    pub const JSON: u32 = 1;
    /// Bytes.
    pub const BYTES: u32 = 2;
}

/// The part of an index that a commit has.
pub mod index_state {
    /// No part.
    pub const NONE: u32 = 0;
    /// Up to some row.
    pub const PARTIAL: u32 = 1;
    /// All of it.
    pub const COMPLETE: u32 = 2;
}

/// The place of a fault that is not in a node, instead of its level.
pub mod fault_level {
    /// A value out of line.
    pub const VALUE: u32 = 255;
    /// The form of a node or a value.
    pub const FORM: u32 = 254;
}

/// A leaf of a sum tree in an answer: bytes from its start.
pub mod found_leaf {
    /// 32 bytes.
    pub const KEY: usize = 0;
    /// 8 bytes.
    pub const SUM: usize = 32;
    /// Start and end of its value, and its mark: 4 bytes each.
    pub const START: usize = 40;
    /// See `START`.
    pub const END: usize = 44;
    /// See `START`.
    pub const MARK: usize = 48;
    /// Bytes of a leaf.
    pub const BYTES: usize = 52;
}

/// The malformed part of a chunk or table, as far as a read finds it: numbers of [`Field`](crate::error::Field).
pub mod field {
    /// The first byte: the kind of a chunk, or the level of a node.
    pub const KIND: u32 = 0;
    /// The version of the format.
    pub const VERSION: u32 = 1;
    /// The number of members.
    pub const COUNT: u32 = 2;
    /// The length of the whole.
    pub const LENGTH: u32 = 3;
    /// An offset in a table of offsets.
    pub const OFFSET: u32 = 4;
    /// The length of a key.
    pub const KEY_LENGTH: u32 = 5;
    /// A key that is not valid UTF-8.
    pub const KEY_TEXT: u32 = 6;
    /// A key that does not sort after the one before it.
    pub const KEY_ORDER: u32 = 7;
    /// The length of a value.
    pub const VALUE_LENGTH: u32 = 8;
    /// A cumulative entry count that does not grow.
    pub const ENTRY_COUNT: u32 = 9;
    /// The level of a child is not one less than its parent's.
    pub const CHILD_LEVEL: u32 = 10;
    /// The last key of a child is not the one that its parent names.
    pub const CHILD_KEY: u32 = 11;
    /// The entry count of a child is not the one that its parent names.
    pub const CHILD_COUNT: u32 = 12;
}

/// The first byte of a chunk, unless it is a node: that begins with its level.
pub mod chunk_kind {
    /// A commit.
    pub const COMMIT: u32 = 0xc0;
    /// A piece of a sum tree.
    pub const SUM_PIECE: u32 = 0xd0;
    /// The first piece of a sum tree.
    pub const SUM_TOP: u32 = 0xd1;
    /// Part of a value that is stored out of line, or all of it.
    pub const PIECE: u32 = 0xe0;
    /// The hashes of a value's pieces.
    pub const PIECE_LIST: u32 = 0xe1;
}

/// Sizes of chunks and of their parts, in bytes: `docs/format.md` draws them.
pub mod chunk_size {
    /// Kind and version at the start of a chunk.
    pub const HEADER_BYTES: usize = 2;
    /// A hash.
    pub const HASH_BYTES: usize = 32;
    /// Highest level of a node.
    pub const MAX_LEVEL: usize = 40;
    /// A node before its offsets.
    pub const NODE_HEADER_BYTES: usize = 4;
    /// A child in an internal node besides its key.
    pub const CHILD_BYTES: usize = 42;
    /// The largest leaf.
    pub const MAX_LEAF_BYTES: usize = 21_511;
    /// The largest internal node.
    pub const MAX_INNER_BYTES: usize = 17_453;
    /// Largest value in a leaf; a larger one is out of line.
    pub const MAX_INLINE_VALUE_BYTES: usize = 4096;
    /// The reference to a value out of line.
    pub const VALUE_REF_BYTES: usize = 36;
    /// A piece of a value, except for the last.
    pub const PIECE_BYTES: usize = 65_536;
    /// Most pieces of a value.
    pub const MOST_PIECES: usize = 1024;
}

/// Other sizes that both sides use.
pub mod size {
    /// Doubles in a reply.
    pub const REPLY_WORDS: usize = 16;
    /// Bytes of the shortest segment that is read in parts.
    pub const LEAST_BYTES_FOR_PARTS: usize = 65_536;
    /// A segment below this is small.
    pub const SMALL_SEGMENT_BYTES: usize = 65_536;
    /// The cost of a request to storage, in bytes that are read in the same time, if the host does not set it.
    pub const REQUEST_COST: usize = 294_912;
    /// Doubles of each level in a census: its nodes, their bytes unpacked, the same as they are stored, and the unpacked
    /// bytes of the smallest and the largest.
    pub const LEVEL_WORDS: usize = 5;
}

// The formats have one definition, in the packages below: these are the same numbers.
const _: () = {
    assert!(size::LEVEL_WORDS == crate::tree::LEVEL_WORDS);
    assert!(size::LEAST_BYTES_FOR_PARTS == limits::LEAST_BYTES_FOR_PARTS);
    assert!(size::SMALL_SEGMENT_BYTES == limits::SMALL_SEGMENT_BYTES);
    assert!(size::REQUEST_COST == crate::cache::REQUEST_COST);
    assert!(chunk_kind::COMMIT == ChunkKind::Commit.header()[0] as u32);
    assert!(chunk_kind::SUM_PIECE == ChunkKind::SumPiece.header()[0] as u32);
    assert!(chunk_kind::SUM_TOP == ChunkKind::SumTop.header()[0] as u32);
    assert!(chunk_kind::PIECE == ChunkKind::Piece.header()[0] as u32);
    assert!(chunk_kind::PIECE_LIST == ChunkKind::PieceList.header()[0] as u32);
    assert!(field::KIND == Field::Kind as u32);
    assert!(field::VERSION == Field::Version as u32);
    assert!(field::COUNT == Field::Count as u32);
    assert!(field::LENGTH == Field::Length as u32);
    assert!(field::OFFSET == Field::Offset as u32);
    assert!(field::KEY_LENGTH == Field::KeyLength as u32);
    assert!(field::KEY_TEXT == Field::KeyText as u32);
    assert!(field::KEY_ORDER == Field::KeyOrder as u32);
    assert!(field::VALUE_LENGTH == Field::ValueLength as u32);
    assert!(field::ENTRY_COUNT == Field::EntryCount as u32);
    assert!(field::CHILD_LEVEL == Field::ChildLevel as u32);
    assert!(field::CHILD_KEY == Field::ChildKey as u32);
    assert!(field::CHILD_COUNT == Field::ChildCount as u32);
    assert!(chunk_size::HEADER_BYTES == HEADER_BYTES);
    assert!(chunk_size::HASH_BYTES == HASH_BYTES);
    assert!(chunk_size::MAX_LEVEL == limits::MAX_LEVEL as usize);
    assert!(chunk_size::NODE_HEADER_BYTES == node::NODE_HEADER_BYTES);
    assert!(chunk_size::CHILD_BYTES == node::CHILD_BYTES);
    assert!(chunk_size::MAX_LEAF_BYTES == node::MAX_LEAF_BYTES);
    assert!(chunk_size::MAX_INNER_BYTES == node::MAX_INNER_BYTES);
    assert!(chunk_size::MAX_INLINE_VALUE_BYTES == limits::MAX_INLINE_VALUE_BYTES);
    assert!(chunk_size::VALUE_REF_BYTES == VALUE_REF_BYTES);
    assert!(chunk_size::PIECE_BYTES == limits::PIECE_BYTES);
    assert!(chunk_size::MOST_PIECES == pieces_of(limits::MAX_VALUE_BYTES));
};

/// Declares the words of each reply, in order. `after` declares a part that follows the words of another.
macro_rules! replies {
    ($($(#[$doc:meta])* $name:ident $(after $before:ident)? { $($field:ident,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Default)]
        pub struct $name { $(pub $field: f64,)+ }

        impl super::words::Words for $name {
            type Words = [f64; [$(stringify!($field)),+].len()];
            const AT: usize = 0 $(+ <$before as super::words::Words>::END)?;
            const END: usize = Self::AT + [$(stringify!($field)),+].len();

            #[inline]
            fn words(self) -> Self::Words {
                [$(self.$field),+]
            }
        }
    )+ };
}

// For bytes, texts and numbers, a reply has their address.
replies! {
    /// A view that was opened.
    View { handle, rows, }
    /// A value; only `kind` if it is absent.
    Value { kind, address, length, }
    /// Doubles: ids of segments, or the levels of a census.
    Numbers { address, count, }
    /// The totals of a collection, after the segments to delete once its new ones are stored (for a survey:
    /// segments with live chunks). At the end the list is empty.
    Collected after Numbers { stored_bytes, live_bytes, value_bytes, is_exact, }
    /// A segment that was made, and its table.
    Segment { id, address, length, table, table_length, }
    /// Members that were read. `text` has the values, marks say where byte values are, `keys` has all other
    /// members or is empty. Positions are of the keys that a search has found.
    Output {
        text, text_length, bytes, marks, mark_count, value_count, positions, position_count, keys,
        keys_length,
    }
    /// The counts of the parts that a verification has found sound so far; its faults are the output.
    Tally after Output { rows, nodes, values, bytes, remote_rows, remote_nodes, }
    /// The number of rows or entries in a range.
    Count { rows, }
    /// The progress of an ingest; `commit` is the address of a hash, 0 until it is done.
    Ingested { rows, chunks, chunk_bytes, commit, }
    /// The part of an index that a view has; if not all, the key of the last row that it covers.
    IndexReach { state, key, key_length, }
    /// Bytes: a proof, a delta, the root of rows, the root and definition of a sum tree, or the names of all
    /// sum trees.
    Bytes { address, length, }
    /// The number of edits of a delta so far, whether it was given up for its length, and whether it has ended
    /// and others follow.
    Delta after Bytes { edits, is_too_long, has_ended, }
    /// Whether an index has exactly the entries of its rows, and the address of the hash of its root.
    IndexChecked { is_same, root, }
    /// Leaves of a sum tree, and their values.
    SumLeaves { address, count, values, }
    /// The counts of the parts that a verification of a sum tree has found sound so far.
    SumTally { leaves, pieces, values, }
    /// The segments and chunks that the cache knows, the bytes in memory, and the reads that found their
    /// chunk in memory or not.
    Cache { segments, chunks, stored_bytes, cached_bytes, small_segments, hits, misses, }
    /// The reason for which a row was refused, and the place.
    RowFault { row, offset, fault, }
    /// The fault of a chunk or a table, and the place.
    ChunkFault { hash, field, offset, expected, got, }
    /// The unknown version.
    FormatFault { version, }
    /// The sum tree and the row whose sum failed; the key of the row follows the name.
    SumFault { name, name_length, key_length, }
}
