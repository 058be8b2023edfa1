/** Longest key, in bytes of UTF-8; the core has the same limit. */
export const MAX_KEY_BYTES = 1024;

/** Largest value, in bytes; the core has the same limit. */
export const MAX_VALUE_BYTES = 64 << 20;

/** Deepest nesting of a value; the core has the same limit. */
export const MAX_JSON_DEPTH = 512;

/** Most trees that a commit names: the rows, indexes and sum trees; the core has the same limit. */
export const MAX_TREES = 1024;

/** Most bytes of a proof, and of the rows that it proves; the core has the same limit. */
export const MAX_PROOF_BYTES = 128 << 20;

/** Version of the stored format that this library writes, see `docs/format.md`. */
export const FORMAT = 1;

/** How often a commit that lost a race is made again before it fails with `conflict`. */
export const MAX_COMMIT_TRIES = 64;

/** Longest wait before such a commit is made again, in milliseconds. */
export const MAX_COMMIT_WAIT_MS = 64;

/** So many of the last moves of a ref are remembered at least, and so many are told at most. */
export const MIN_HISTORY = 8;
export const MAX_HISTORY = 32;

/** Bytes of finished segments that a long ingest gathers before it writes them. */
export const WRITE_BYTES = 1 << 20;

/** Bytes of segments that a long ingest has in flight before it waits for storage. */
export const MAX_IN_FLIGHT_BYTES = 16 << 20;

/** Most columns of an index; as in `crate/trees/src/limits.rs`. */
export const MAX_COLUMNS = 8;

/** Most bytes of the entries of a row in an index, where an array makes them; as in the core. */
export const MAX_ROW_ENTRIES_BYTES = 256 << 10;

/** So many of them for each byte of the row, and so many more; as in the core. */
export const ROW_ENTRIES_FACTOR = 32;
export const FREE_ROW_ENTRIES_BYTES = 4 << 10;

/** Longest name of a tree, without the letter before it that tells what it is. */
export const MAX_TREE_NAME_BYTES = 254;

/** Longest definition of an index: it is the name of a tree. */
export const MAX_DEFINITION_BYTES = MAX_TREE_NAME_BYTES;

/** Longest definition of a sum tree that follows rows; the core has the same limit. */
export const MAX_SUM_DEFINITION_BYTES = 984;

/** Longest value of a leaf of a sum tree; the core has the same limit. */
export const MAX_SUM_VALUE_BYTES = 1 << 20;

/** Most chunks of a segment; the core has the same limit, and tells why. */
export const MAX_SEGMENT_CHUNKS = 174_763;

/** Segment ids that one reserved writer number stands for. */
export const SEGMENTS_PER_WRITER = 2 ** 20;

/** Longest time for which a transaction that runs again keeps other writers of its tab waiting. */
export const MAX_HOLD_MS = 250;

/** Longest time for which it waits for those of other tabs that do the same. */
export const MAX_QUEUE_WAIT_MS = 1000;

/** How long another tab may make no progress with an index or a sum tree before this one makes it, too. */
export const MAX_BUILD_WAIT_MS = 5000;

/** How long the tab that collects may be silent before another one takes its place. */
export const MAX_SILENCE_MS = 3000;

/** How long a tab counts on being the one that collects after it has seen that it is. */
export const LEASE_MS = 2000;

/** How far apart the clocks of two tabs may be, rounding included. */
export const CLOCK_SLACK_MS = 1000;
