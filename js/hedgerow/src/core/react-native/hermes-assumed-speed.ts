/** First guesses of the speed of an interpreter: a thirtieth of the speed of machine code, or less. */

/** Bytes of work of the core in a millisecond. */
export const WORK_IN_MS = 600;

/** Bytes of work that a read may do in the turn of its caller. */
export const QUICK_WORK = 4 << 10;

/** Rows taken and fed in a millisecond. */
export const ROWS_IN_MS = 1;
