/** Reads that end in the turn of their call, if all that they need is in memory. */

import * as Status from '../base/abi/status.js';
import { isInRange, type KeyRange } from '../base/range.js';
import type { Engine, Op } from '../core/engine.js';
import type { IndexRange } from '../core/indexes/index-range.js';
import { isOfIndex, State } from '../core/indexes/index-set.js';
import type { ReadContext } from '../engine/read/context.js';

/** Bytes of work in one turn: about a thousand rows, in a millisecond or two. */
const NOW_BYTES = 128 << 10;

/**
 * Returns whether a read of the head can begin in this turn: a range of an index needs the complete index, and the
 * `isFirst` read waits for rows that the handle has put in the range.
 */
export function isReadable(
  { isReady, head, pending }: ReadContext,
  range: KeyRange | IndexRange,
  isFirst: boolean,
): boolean {
  const isAmong = (key: string) => isOfIndex(range) || isInRange(key, range);
  if (!isReady || (isFirst && pending?.ofAll(isAmong) !== undefined)) return false;
  if (!isOfIndex(range)) return true;
  const { indexes, engine } = head.host;
  const isComplete = indexes.state(head.view, indexes.get(range.index)) === State.complete;
  if (!isComplete) return false;
  const preparing = engine.prepareIndexWalks();
  // The asynchronous read that follows waits for it, and reports its failure.
  preparing?.catch(() => {});
  return preparing === undefined;
}

/**
 * Returns what `answer` takes from the reply to an operation; `undefined` if the operation fails, or needs storage or
 * more time.
 */
export function answerNow<T>(engine: Engine, op: Op, answer: () => T): T | undefined {
  try {
    if (engine.step(op, NOW_BYTES) !== Status.done) return undefined;
    engine.noteSuccess();
    return answer();
  } catch {
    // The asynchronous read that follows reports the error.
    return undefined;
  } finally {
    engine.free(op);
  }
}
