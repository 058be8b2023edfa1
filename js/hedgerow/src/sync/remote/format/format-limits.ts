/** Limits of the objects of a remote. Writers and readers both check them; `docs/format.md` lists them. */

import { MAX_HEAD_BYTES as MAX_SIGNED_BYTES } from '../../../base/limits.js';

/** Longest repository file, in bytes. */
export const MAX_REPOSITORY_BYTES = 64 << 10;

/** Bytes of an Ed25519 signature. */
export const SIGNATURE_BYTES = 64;

/** The bytes that follow a signed head: `signed-head.ts`. */
export const SIGNED_TRAILER_BYTES = 8 + SIGNATURE_BYTES;

/** Longest head. With a signature it is as long as a remote takes, so any head may be signed. */
export const MAX_UNSIGNED_HEAD_BYTES: number = MAX_SIGNED_BYTES - SIGNED_TRAILER_BYTES;

/** Longest delta inside of a head, in bytes; a longer one is a separate object. */
export const MAX_INLINE_DELTA_BYTES = 4 << 10;

/** Most entries of a tail, in its head and in the logs of that head. */
export const MAX_TAIL_ENTRIES = 64;

/** Most bytes of all deltas of a tail, wherever they are. */
export const MAX_TAIL_BYTES = 1 << 20;

/** Most entries of a tail in the head itself: each reader of the head reads them all. */
export const MAX_HEAD_ENTRIES = 8;

/** Most bytes of these entries, unless there is only one. */
export const MAX_HEAD_ENTRIES_BYTES = 3 << 10;

/** A writer keeps a head within these bytes, while its entries have more bytes than a short log. */
export const SHORT_HEAD_BYTES = 5900;

/** Bytes of entries for which a head always has space: shorter logs would be too many. */
export const SHORT_LOG_BYTES = 1850;

/** Most logs of a head. */
export const MAX_LOGS = 16;

/** Longest log, in bytes: some entries of a tail. */
export const MAX_LOG_BYTES = 8 << 10;

/** Most blocks of history that a head names. */
export const MAX_BLOCKS = 32;

/** Most pushes that a block of history lists. */
export const MAX_BLOCK_PUSHES = 65_536;

/** Longest block of history, in bytes: its pushes, envelope and seal. */
export const MAX_BLOCK_BYTES: number = 16 * MAX_BLOCK_PUSHES + 2048;

/** Most sum trees that a head names. */
export const MAX_SUMS = 64;

/** Longest name of a sum tree in bytes, without the letter for its kind. */
export const MAX_SUM_NAME_BYTES = 254;

/** A frame of a pack ends with the edit by which it reaches this length, before it is deflated. */
export const FRAME_BYTES = 64 << 10;

/** Most frames of a pack. */
export const MAX_FRAMES = 1024;

/** A pack ends with the frame by which it reaches this length, before it is deflated. */
export const PACK_BYTES = 4 << 20;

/** Longest pack, as it is stored. */
export { MAX_OBJECT_BYTES as MAX_PACK_BYTES } from '../../../base/limits.js';

/** Longest delta before it is deflated, in bytes; more changes are a checkpoint. */
export const MAX_PLAIN_DELTA_BYTES = 16 << 20;

/** A frame of internal nodes, which hardly deflate, ends with the node by which it reaches this length. */
export const NODE_FRAME_BYTES = 16 << 10;

/** Most waiting marks of the collection of a remote. */
export const MAX_MARKS = 8;

/** Most objects that one mark lists. */
export const MAX_MARK_NAMES = 100_000;

/** Longest mark, in bytes: its names, envelope and seal. */
export const MAX_MARK_BYTES = 32 * MAX_MARK_NAMES + 2048;
