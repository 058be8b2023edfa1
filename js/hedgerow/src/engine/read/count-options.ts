/** The options of `count` of a store, a snapshot or a transaction. */

import { checkSignal } from '../../base/abort-signal.js';
import { checkRangeOptions, RANGE } from '../../base/check-options.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import type { KeyRange } from '../../base/range.js';
import type { EntryCut, IndexRange } from '../../core/indexes/index-entries.js';
import type { WaitOptions } from './wait-for-index.js';

/** The rows, or entries of an index, to count. */
export type CountOptions = (KeyRange & Pick<WaitOptions, 'signal'>) | (IndexRange & WaitOptions);

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
  names: typeof RANGE.counted | typeof RANGE.ordered = RANGE.counted,
): CountPlan & { readonly reverse: boolean } {
  const {
    reverse = false,
    wait,
    signal,
    ...range
  }: Exactly<
    CountReadOptions,
    keyof IndexRange | 'reverse' | 'wait' | 'signal'
  > = checkRangeOptions(call, options as CountReadOptions, names);
  checkSignal(signal);
  return { range, reverse, wait, signal };
}
