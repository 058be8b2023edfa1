//! Every number that both sides of the boundary know: statuses, flags, states, and where each word of a
//! reply stands. `scripts/write-abi.mjs` writes `js/src/base/abi/` from this file, and `npm test` fails when
//! that is out of date. Add a number here, then run the script.
//!
//! The script reads constants of modules (a number, or a shift of one) and the table of replies at the end.

#![allow(
    dead_code,
    reason = "what is the last of its kind is what is left here, and named by the host"
)]

/// What a call answers.
pub mod status {
    /// Finished.
    pub const DONE: u32 = 0;
    /// Segments must be loaded first. Reply: `Numbers`, their ids.
    pub const NEED: u32 = 1;
    /// The budget is spent.
    pub const YIELD: u32 = 2;
    /// The value is out of line.
    pub const FAR: u32 = 3;
    /// There is a segment. Reply: `Segment`.
    pub const SEGMENT: u32 = 4;
    /// A row was refused. Reply: `RowFault`. This error is the first: all that are below are none.
    pub const ROW: u32 = 16;
    /// No segment has a chunk. Reply: `ChunkFault`, its hash alone.
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
    /// The sums of a sum tree do not fit.
    pub const SUM_OVERFLOW: u32 = 23;
    /// Two rows have the same key in a sum tree. Reply: `SumFault`, as of the next three.
    pub const SUM_KEY_TWICE: u32 = 24;
    /// A row has no whole number where its sum is.
    pub const SUM_NOT_WHOLE: u32 = 25;
    /// A row has half of a surrogate pair in the key of its sum.
    pub const SUM_KEY_NOT_TEXT: u32 = 26;
    /// A row has too large a value for a sum tree.
    pub const SUM_VALUE_TOO_LARGE: u32 = 27;
    /// A commit would name too many trees.
    pub const COMMIT_TOO_LARGE: u32 = 28;
    /// No operation was started.
    pub const NO_OP: u32 = 0xffff_ffff;
}

/// Flags of a read. The number of an index, from 1, stands above them.
pub mod read_flag {
    /// Descending order.
    pub const REVERSE: u32 = 1;
    /// Keys are wanted.
    pub const KEYS: u32 = 2;
    /// Values are wanted.
    pub const VALUES: u32 = 4;
    /// The range has a prefix.
    pub const PREFIX: u32 = 8;
    /// The range has a lower bound, which belongs to it.
    pub const GTE: u32 = 1 << 4;
    /// The range has a lower bound, which does not belong to it.
    pub const GT: u32 = 1 << 5;
    /// The range has an upper bound, which belongs to it.
    pub const LTE: u32 = 1 << 6;
    /// The range has an upper bound, which does not belong to it.
    pub const LT: u32 = 1 << 7;
    /// Secondary keys are wanted.
    pub const SECONDARY: u32 = 1 << 8;
    /// Where the number of an index begins; 0 reads rows.
    pub const INDEX_SHIFT: u32 = 9;
}

/// Flags of a collection.
pub mod collect_flag {
    /// Only look: nothing is moved.
    pub const SURVEY: u32 = 1;
    /// Collect all that is dead.
    pub const FULL: u32 = 2;
    /// Nobody writes now.
    pub const REST: u32 = 4;
    /// There is little room.
    pub const SPARING: u32 = 8;
}

/// What the members of a block of rows are.
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

/// How rows stand in a stream of bytes.
pub mod framing {
    /// To be found out.
    pub const UNKNOWN: u32 = 0;
    /// A row a line.
    pub const LINES: u32 = 1;
    /// Members of one array.
    pub const ARRAY: u32 = 2;
}

/// What rows of a stream of bytes are, in the place of the length of a pointer to their key.
pub mod row_shape {
    /// `[key, value]`.
    pub const PAIR: i32 = -1;
    /// Operations of a patch.
    pub const PATCH: i32 = -2;
}

/// What is stored under a key.
pub mod value_kind {
    /// Nothing.
    pub const ABSENT: u32 = 0;
    /// JSON text.
    pub const JSON: u32 = 1;
    /// Bytes.
    pub const BYTES: u32 = 2;
}

/// How far a commit has an index.
pub mod index_state {
    /// It does not have it.
    pub const NONE: u32 = 0;
    /// Up to some row.
    pub const PARTIAL: u32 = 1;
    /// All of it.
    pub const COMPLETE: u32 = 2;
}

/// What a fault is told of that no level of a tree has.
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

/// What else both sides count with.
pub mod size {
    /// Doubles in a reply.
    pub const REPLY_WORDS: usize = 16;
    /// Doubles of each level in a census.
    pub const LEVEL_WORDS: usize = 4;
}

const _: () = assert!(size::LEVEL_WORDS == crate::tree::LEVEL_WORDS);

/// The words of a reply, or of the part of one that stands after another: in this order, from the first.
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

// Of bytes, texts and numbers a reply tells the address.
replies! {
    /// A view that was opened.
    View { handle, rows, }
    /// A value; `kind` alone where there is none.
    Value { kind, address, length, }
    /// Doubles: ids of segments, or the levels of a census.
    Numbers { address, count, }
    /// What a collection has come to, after the segments that may go once its own are stored (of a survey:
    /// those that hold anything live). None are left at its end.
    Collected after Numbers { stored_bytes, live_bytes, value_bytes, is_exact, }
    /// A segment that was made, and its table.
    Segment { id, address, length, table, table_length, }
    /// Members that were read. `text` has the values; marks tell where those are that are bytes; `keys` has
    /// all other members, or nothing. Positions are those of the keys that a search has found.
    Output {
        text, text_length, bytes, marks, mark_count, value_count, positions, position_count, keys,
        keys_length,
    }
    /// What a verification has found sound so far; its faults are the output.
    Tally after Output { rows, nodes, values, bytes, }
    /// How many rows or entries a range has.
    Count { rows, }
    /// What an ingest has come to; `commit` is a hash, and only there when it is done.
    Ingested { rows, chunks, chunk_bytes, commit, }
    /// How far a view has an index, and in part, the last key of a row that it is made of.
    IndexReach { state, key, key_length, }
    /// Bytes: a proof, what a commit tells of a sum tree, or the names of all.
    Bytes { address, length, }
    /// Whether an index is what its rows make, and the hash of its root.
    IndexChecked { is_same, root, }
    /// Leaves of a sum tree, and their values.
    SumLeaves { address, count, values, }
    /// What a verification of a sum tree has found sound so far.
    SumTally { leaves, pieces, values, }
    /// What is known and kept of segments.
    Cache { segments, chunks, stored_bytes, cached_bytes, small_segments, }
    /// Why a row was refused, and where.
    RowFault { row, offset, fault, }
    /// What is wrong with a chunk or a table, and where.
    ChunkFault { hash, field, offset, expected, got, }
    /// The version that is not known.
    FormatFault { version, }
    /// Of which sum tree and which row a sum cannot be had; the key follows the name.
    SumFault { name, name_length, key_length, }
}
