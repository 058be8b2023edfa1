//! Every number that both sides of the boundary use: statuses, flags, states, and the position of each
//! word of a reply. `scripts/write-abi.mjs` writes `js/hedgerow/src/base/abi/` from this file, and `npm test` fails
//! when that is out of date. Add a number here, then run the script.
//!
//! The script reads constants of modules (a number, or a shift of one) and the table of replies at the end.

#![allow(
    dead_code,
    reason = "some numbers are named by the host only: here they are the remaining case"
)]

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

/// Other sizes that both sides use.
pub mod size {
    /// Doubles in a reply.
    pub const REPLY_WORDS: usize = 16;
    /// Bytes of the shortest segment that is read in parts.
    pub const LEAST_BYTES_FOR_PARTS: usize = 65_536;
    /// Doubles of each level in a census: its nodes, their bytes unpacked, the same as they are stored, and the unpacked
    /// bytes of the smallest and the largest.
    pub const LEVEL_WORDS: usize = 5;
}

const _: () = assert!(size::LEVEL_WORDS == crate::tree::LEVEL_WORDS);

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
