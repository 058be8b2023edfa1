/**
 * The options of scans, and their one check. Stores, snapshots, transactions, hooks and watches pass on the checked
 * form as a whole. `Exactly` makes code that takes it apart name every member.
 */
import type { Exactly } from '../base/exactly.js';
import { RANGE, rangeOf } from '../base/options.js';
import type { KeyRange } from '../base/range.js';
import type { IndexRange } from '../indexes/columns.js';
import type { WaitOptions } from './holder.js';

/** Which rows of a range a scan yields, and in which order. */
export interface ScanControl {
  /** Descending order. */
  readonly reverse?: boolean | undefined;
  /** Rows to skip at the start. Costs O(log n), however many these are. */
  readonly offset?: number | undefined;
  /** The most rows to yield. */
  readonly limit?: number | undefined;
  /** Ends the scan with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Which rows a scan yields. */
export interface ScanOptions extends KeyRange, ScanControl {}

/** Which rows a scan of an index yields. */
export interface IndexScanOptions extends IndexRange, ScanControl, WaitOptions {}

/** The checked options of a scan, with all defaults. */
export interface ScanPlan {
  readonly range: KeyRange | IndexRange;
  readonly reverse: boolean;
  readonly offset: number;
  readonly limit: number;
  /** Whether the scan waits for its index. */
  readonly wait: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A scan of one commit by the core. `parts` are the wanted parts of rows, as `ReadFlag`. */
export type StoredScan = Omit<ScanPlan, 'wait' | 'signal'> & { readonly parts: number };

/** The limit of a scan without one. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Checks the options of a scan. */
export function checkedScan(call: string, options: ScanOptions | IndexScanOptions): ScanPlan {
  const {
    reverse = false,
    offset = 0,
    limit = UNLIMITED,
    wait = true,
    signal,
    ...range
  }: Exactly<
    IndexScanOptions,
    keyof IndexRange | 'reverse' | 'offset' | 'limit' | 'wait' | 'signal'
  > = rangeOf(call, options as IndexScanOptions, RANGE.scanned);
  // Limit both, so that their sum is exact.
  const [from, most] = [Math.min(offset, UNLIMITED), Math.min(limit, UNLIMITED)];
  return { range, reverse, offset: from, limit: most, wait, signal };
}

/** The options that give this plan. */
export function optionsOfPlan({ range, ...control }: ScanPlan): ScanOptions {
  return { ...(range as KeyRange), ...control };
}
