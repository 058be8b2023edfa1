/** The numbers of rows in their order: the options of `at` and `rank`, and their one check. */

import * as ReadFlag from '../../base/abi/read-flag.js';
import { checkNumber } from '../../base/check-options.js';
import type { EncodedRange, KeyRange } from '../../base/range.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Engine, Op } from '../../core/engine.js';
import type { EntryPosition, IndexRange } from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import { type CountPlan, checkedCount, ORDER_OPTIONS } from './count-options.js';
import { partOf, type ScanControl, side, UNLIMITED } from './scan-options.js';
import type { WaitOptions } from './wait-for-index.js';

/** Options that choose the numbered rows, and their order. */
export interface OrderOptions extends KeyRange, Pick<ScanControl, 'reverse' | 'signal'> {}

/** Options that choose the numbered entries of an index, and their order. */
export interface IndexOrderOptions
  extends IndexRange,
    WaitOptions,
    Pick<ScanControl, 'reverse' | 'signal'> {}

/** The checked options of `at`. */
export interface AtPlan extends CountPlan {
  readonly reverse: boolean;
  readonly n: number;
}

/** Checks the arguments of `at`. Throws `invalid-argument`, or `aborted`. */
export function checkedAt(
  call: string,
  n: number,
  options: OrderOptions | IndexOrderOptions,
): AtPlan {
  checkNumber(call, n);
  return { ...checkedCount(call, options, ORDER_OPTIONS), n: Math.min(n, UNLIMITED) };
}

/**
 * Checks the arguments of `rank`, which counts the rows before one. Throws as `checkedAt`, or `invalid-argument/key`.
 */
export function checkedRank(
  call: string,
  at: string | EntryPosition,
  options: OrderOptions | IndexOrderOptions,
): CountPlan {
  const { range, reverse, ...waiting } = checkedCount(call, options, ORDER_OPTIONS);
  return { ...waiting, ...partOf(call, range, at, side(reverse, false)) };
}

/** Starts to read the row, or the entry of an index, with the number `n`; `oneOf` then returns it. */
export function atOf(
  engine: Engine,
  view: number,
  encoded: EncodedRange,
  { range, reverse, n }: AtPlan,
): Op {
  const secondary = isOfIndex(range) ? ReadFlag.secondary : 0;
  const parts = ReadFlag.keys | ReadFlag.values | secondary;
  return reads.scan(engine, view, { range: encoded, parts, reverse, offset: n, limit: 1 });
}

/** Returns the row, or the entry, in the reply to a scan of one. */
export function oneOf(engine: Engine): unknown[] | undefined {
  const members = reads.output(engine);
  return members.length === 0 ? undefined : members;
}
