/** The options of `count` of a store, a snapshot or a transaction. */

import { checkSignal } from '../../base/abort-signal.js';
import { checkRangeOptions, ENTRY_RANGE, flag } from '../../base/check-options.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import type { KeyRange } from '../../base/range.js';
import type { EntryCut, IndexRange } from '../../core/indexes/index-range.js';
import { WAIT_OPTIONS, type WaitOptions } from './wait-for-index.js';

/** The rows, or entries of an index, to count. */
export type CountOptions = (KeyRange & Pick<WaitOptions, 'signal'>) | (IndexRange & WaitOptions);

/** The checks of the options of a count, and of reads that number rows. */
const COUNT_OPTIONS = { ...ENTRY_RANGE, ...WAIT_OPTIONS };
export const ORDER_OPTIONS = { ...COUNT_OPTIONS, reverse: flag };

/** The options of a count, and of reads that number rows. */
type CountReadOptions = IndexRange & WaitOptions & { readonly reverse?: boolean | undefined };

/** The checked options of a count. */
export interface CountPlan extends WaitOptions {
  readonly range: KeyRange | IndexRange;
  /** Of an index, the side of an entry to count. */
  readonly cut?: EntryCut | undefined;
}

/** Checks the options of a count, or of a read of an order. Throws `invalid-argument`, or `aborted`. */
export function checkedCount(
  call: string,
  options: CountOptions,
  checks: typeof COUNT_OPTIONS = COUNT_OPTIONS,
): CountPlan & { readonly reverse: boolean } {
  const {
    reverse = false,
    wait,
    signal,
    ...range
  }: Exactly<
    CountReadOptions,
    keyof IndexRange | 'reverse' | 'wait' | 'signal'
  > = checkRangeOptions(call, options as CountReadOptions, checks as typeof ORDER_OPTIONS);
  checkSignal(signal);
  return { range, reverse, wait, signal };
}
