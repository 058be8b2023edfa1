/** What `count` is given, by a store, a snapshot or a transaction. */
import type { WaitOptions } from './indexes/ready.js';
import type { IndexRange } from './indexes/secondary.js';
import { RANGE, rangeOf } from './options.js';
import type { KeyRange } from './range.js';
import { checkSignal } from './signal.js';

/** Which rows, or entries of an index, are counted. */
export type CountOptions = (KeyRange & Pick<WaitOptions, 'signal'>) | (IndexRange & WaitOptions);

/** Checks what a count is given. */
export function counted(call: string, options: CountOptions): CountOptions {
  const wanted = rangeOf(call, options, RANGE.counted);
  checkSignal(wanted.signal);
  return wanted;
}
