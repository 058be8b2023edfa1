/** Limits of what is kept at a remote. Writers and readers both check them; `docs/format.md` lists them. */

/** Longest repository file, in bytes. */
export const MAX_REPOSITORY_BYTES = 64 << 10;

export { MAX_HEAD_BYTES } from '../../base/limits.js';

/** A delta is inline only while its head stays within this; the rest is for entries without inline deltas. */
export const MAX_HEAD_BYTES_INLINE = 56 << 10;

/** Longest delta inside of a head, in bytes; a longer one is an object of its own. */
export const MAX_INLINE_DELTA_BYTES = 4 << 10;

/** Most entries of a tail. */
export const MAX_TAIL_ENTRIES = 64;

/** Most bytes of all deltas of a tail, wherever they are. */
export const MAX_TAIL_BYTES = 1 << 20;

/** Most retired objects that a head lists: of more, a listing of the remote finds the oldest. */
export const MAX_RETIRED = 256;

/** Most sum trees that a head names. */
export const MAX_SUMS = 64;

/** Longest name of a sum tree in bytes, without the letter for its kind. */
export const MAX_SUM_NAME_BYTES = 254;

/** A pack ends with the edit by which it reaches this length, before it is deflated. */
export const PACK_BYTES = 4 << 20;

/** Longest pack, as it is stored. */
export { MAX_OBJECT_BYTES as MAX_PACK_BYTES } from '../../base/limits.js';

/** Longest delta before it is deflated, in bytes; more changes are a checkpoint. */
export const MAX_PLAIN_DELTA_BYTES = 16 << 20;
