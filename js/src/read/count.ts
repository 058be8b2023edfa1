/** What `count` is given, by a store, a snapshot or a transaction. */

import { RANGE, rangeOf } from '../base/options.js';
import type { KeyRange } from '../base/range.js';
import { checkSignal } from '../base/signal.js';
import type { IndexRange } from '../indexes/columns.js';
import type { WaitOptions } from './holder.js';

/** Which rows, or entries of an index, are counted. */
export type CountOptions = (KeyRange & Pick<WaitOptions, 'signal'>) | (IndexRange & WaitOptions);

/** Checks what a count is given. */
export function counted(call: string, options: CountOptions): CountOptions {
  const wanted = rangeOf(call, options, RANGE.counted);
  checkSignal(wanted.signal);
  return wanted;
}
