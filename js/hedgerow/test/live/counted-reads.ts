/** Counts the reads of memory by live queries. It imports no code of the store: a mock of a part of it imports this file. */
import type * as now from '../../src/live/read-synchronously.js';

/** The number of reads; `isCold` makes them miss. */
export const reads = { count: 0, isCold: false };

/** Replaces `live/read-synchronously.ts`, to count its reads. */
export function counted(own: typeof now): Partial<typeof now> {
  return {
    answerNow: (engine, op, answer) => {
      reads.count += 1;
      return own.answerNow(engine, op, answer);
    },
    isReadable: (...args) => !reads.isCold && own.isReadable(...args),
  };
}
