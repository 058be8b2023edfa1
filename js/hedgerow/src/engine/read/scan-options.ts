/**
 * The options of scans, and their one check. Stores, snapshots, transactions, hooks and watches pass the checked form
 * on unchanged. `Exactly` makes code that destructures it name every member.
 */

import {
  anything,
  checkRangeOptions,
  count,
  flag,
  type OptionsOf,
  signalCheck,
} from '../../base/check-options.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { cut, type KeyRange } from '../../base/range.js';
import {
  type EntryCut,
  type EntryPosition,
  entryCut,
  type IndexRange,
} from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import { ORDER_OPTIONS } from './count-options.js';
import type { WaitOptions } from './wait-for-index.js';

const SCAN_CONTROL = {
  /** Descending order. */
  reverse: flag,
  /** Rows to skip at the start. Costs O(log n), however many rows it skips. */
  offset: count,
  /** The most rows to yield. */
  limit: count,
  /** Ends the scan with `aborted`. */
  signal: signalCheck,
};

/** Options that choose rows of a range, and their order. */
export interface ScanControl extends OptionsOf<typeof SCAN_CONTROL> {}

/** Options that choose the rows of a scan. */
export interface ScanOptions extends KeyRange, ScanControl {
  /** Begin right after this key, in the order of the scan. The key need not have a row. */
  readonly after?: string | undefined;
}

/** Options that choose the rows of a scan of an index. */
export interface IndexScanOptions extends IndexRange, ScanControl, WaitOptions {
  /** Begin right after this entry, in the order of the scan. The index need not have the entry. */
  readonly after?: EntryPosition | undefined;
}

const SCAN_OPTIONS = { ...ORDER_OPTIONS, after: anything<unknown>(), ...SCAN_CONTROL };

/** The checked options of a scan, with all defaults. */
export interface ScanPlan {
  /** The rows after `after`; of an index, the whole range. */
  readonly range: KeyRange | IndexRange;
  /** Of an index, the entries after `after`. */
  readonly cut?: EntryCut | undefined;
  readonly reverse: boolean;
  readonly offset: number;
  readonly limit: number;
  /** Whether the scan waits for its index. */
  readonly wait: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A scan of one commit by the core. `parts` has the wanted parts of rows, as `ReadFlag`. */
export type StoredScan = Omit<ScanPlan, 'wait' | 'signal'> & { readonly parts: number };

/** The limit of a scan without one. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Checks the options of a scan. */
export function checkedScan(call: string, options: ScanOptions | IndexScanOptions): ScanPlan {
  const {
    after,
    reverse = false,
    offset = 0,
    limit = UNLIMITED,
    wait = true,
    signal,
    ...range
  }: Exactly<
    IndexScanOptions,
    keyof IndexRange | 'after' | 'reverse' | 'offset' | 'limit' | 'wait' | 'signal'
  > = checkRangeOptions(call, options as IndexScanOptions, SCAN_OPTIONS);
  // Limit both, so that their sum is exact.
  const [from, most] = [Math.min(offset, UNLIMITED), Math.min(limit, UNLIMITED)];
  const part = after === undefined ? { range } : partOf(call, range, after, side(reverse, true));
  return { ...part, reverse, offset: from, limit: most, wait, signal };
}

/** Returns the side of a row on which the rows after it are, or the rows before it. */
export function side(reverse: boolean, isAfter: boolean): EntryCut['side'] {
  return reverse === isAfter ? 'below' : 'above';
}

/** Returns the part of a range on one side of a key, or of a position in an index. Throws if either is malformed. */
export function partOf(
  call: string,
  range: KeyRange | IndexRange,
  at: string | EntryPosition,
  side: EntryCut['side'],
): Pick<ScanPlan, 'range' | 'cut'> {
  if (isOfIndex(range)) return { range, cut: entryCut(call, at as EntryPosition, side) };
  return { range: cut(range, at as string, side) };
}

/** Returns the options that give this plan. */
export function optionsOfPlan({ range, cut, ...control }: ScanPlan): ScanOptions {
  const options = { ...(range as KeyRange), ...control };
  return cut === undefined ? options : { ...options, after: cut.at as never };
}
