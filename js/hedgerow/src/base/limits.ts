/** Longest key, in bytes of UTF-8; the core has the same limit. */
export const MAX_KEY_BYTES = 1024;

/** Largest value, in bytes; the core has the same limit. */
export const MAX_VALUE_BYTES = 64 << 20;

/** Longest text of a row in a stream of bytes, with spaces and escapes; the core has the same limit. */
export const MAX_ROW_TEXT_BYTES = MAX_VALUE_BYTES + (64 << 10);

/** Deepest nesting of a value; the core has the same limit. */
export const MAX_JSON_DEPTH = 512;

/** Most trees that a commit names: rows, indexes and sum trees; the core has the same limit. */
export const MAX_TREES = 1024;

/** Most bytes of a proof, and of the rows that it proves; the core has the same limit. */
export const MAX_PROOF_BYTES = 128 << 20;

/**
 * Versions of stored and exchanged data: `docs/format.md` draws the data, `docs/releases.md` lists what each version of
 * the package reads and writes. This is the version of chunks, tables of segments, proofs and moves of refs.
 */
export const FORMAT = 1;
/** The version of the object stores of a database. */
export const IDB_FORMAT = 1;
/** The version of the tables in SQLite. */
export const SQL_FORMAT = 1;
export const EXPORT_FORMAT = 1;
/** The version of the objects of a remote, without the deltas in them. */
export const REMOTE_FORMAT = 1;
/** The version of stores that are encrypted at rest. */
export const AT_REST_FORMAT = 1;
/** The version of deltas, which the core makes and reads. */
export const DELTA_FORMAT = 1;

/** The largest number of a format: a larger one marks a sealed ref, see `sync/encryption/at-rest/sealed-refs.ts`. */
export const MAX_FORMAT = 0xff;

/** Tries of a commit that loses races before it fails with `conflict`. */
export const MAX_COMMIT_TRIES = 64;

/** Longest wait before such a commit is tried again, in milliseconds. */
export const MAX_COMMIT_WAIT_MS = 64;

/** The journal keeps at least `MIN_HISTORY` of the last moves of a ref; the history returns at most `MAX_HISTORY`. */
export const MIN_HISTORY = 8;
export const MAX_HISTORY = 32;

/** Bytes of finished segments that a bulk change gathers before it writes them. */
export const WRITE_BYTES = 1 << 20;

/** Bytes of segments that a bulk change has in flight before it waits for storage. */
export const MAX_IN_FLIGHT_BYTES = 16 << 20;

/** Most columns of an index; as in `crate/trees/src/limits.rs`. */
export const MAX_COLUMNS = 8;

/** Most bytes of the index entries of a row with an array; the core has the same limit. */
export const MAX_ROW_ENTRIES_BYTES = 256 << 10;

/** A row may have this many bytes of entries for each byte of its own, and some for free; as in the core. */
export const ROW_ENTRIES_FACTOR = 32;
export const FREE_ROW_ENTRIES_BYTES = 4 << 10;

/** Longest name of a tree in bytes, without the leading letter for its kind. */
export const MAX_TREE_NAME_BYTES = 254;

/** Longest definition of an index, which is the name of a tree. */
export const MAX_DEFINITION_BYTES = MAX_TREE_NAME_BYTES;

/** Longest definition of a sum tree that follows rows; the core has the same limit. */
export const MAX_SUM_DEFINITION_BYTES = 984;

/** Longest value of a leaf of a sum tree; the core has the same limit. */
export const MAX_SUM_VALUE_BYTES = 1 << 20;

/** Most chunks in a segment; the core has the same limit, and explains it. */
export const MAX_SEGMENT_CHUNKS = 174_763;

/** Longest chunk that a segment may have packed, as in the core. */
export const MAX_PACKED_CHUNK_BYTES = 65_538;

/** Segment ids of one reserved writer number. */
export const SEGMENTS_PER_WRITER = 2 ** 20;

/** Longest time that a repeated transaction blocks other writers of its tab, in milliseconds. */
export const MAX_HOLD_MS = 250;

/** Longest time that a transaction waits for repeated transactions of other tabs, in milliseconds. */
export const MAX_QUEUE_WAIT_MS = 1000;

/** Milliseconds without progress by another tab after which this tab also builds an index or a sum tree. */
export const MAX_BUILD_WAIT_MS = 5000;

/** Milliseconds without an answer of the collector after which another tab takes the role. */
export const MAX_SILENCE_MS = 3000;

/** The lease: milliseconds that a tab counts as the collector after a check that it is. */
export const LEASE_MS = 2000;

/** Largest difference between the clocks of two tabs, rounding included, in milliseconds. */
export const CLOCK_SLACK_MS = 1000;

/** Most bytes of a head at a remote, with its signature. */
export const MAX_HEAD_BYTES = 64 << 10;

/** Most bytes of any other object at a remote: a pack is about 4 MiB before it is deflated. */
export const MAX_OBJECT_BYTES = 16 << 20;

/** Longest name of a head at a remote, escaped, without `h/`: file systems allow 255 bytes. */
export const MAX_HEAD_NAME = 200;

/** Most objects that a remote lists. */
export const MAX_LISTED = 1_000_000;

/** Milliseconds without a byte that end a request to a remote. A function of the app has the same time to answer. */
export const MAX_STALL_MS = 30_000;
