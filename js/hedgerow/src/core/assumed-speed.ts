/**
 * First guesses of the speed of a slow machine, used until slices are measured. `react-native/hermes-assumed-speed.ts` replaces
 * this file where an interpreter runs the core.
 */

/** Bytes of work of the core in a millisecond. */
export const WORK_IN_MS = 30_000;

/** Bytes of work that a read may do in the turn of its caller. */
export const QUICK_WORK = 64 << 10;

/** Rows taken and fed in a millisecond. */
export const ROWS_IN_MS = 16;
