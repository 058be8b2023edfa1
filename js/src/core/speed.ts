/**
 * What a slow machine does at first guess, until the slices of a store have told better.
 * `react-native/speed.ts` stands in for it where the core is interpreted.
 */

/** Bytes of work of the core in a millisecond. */
export const WORK_IN_MS = 30_000;

/** Bytes of work that a read may do in the caller's own turn. */
export const QUICK_WORK = 64 << 10;

/** Rows taken and fed in a millisecond. */
export const ROWS_IN_MS = 16;
