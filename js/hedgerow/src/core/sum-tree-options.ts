/** The options of the calls of sum trees, and their checks. */

import {
  anything,
  durabilityCheck,
  fn,
  type OptionsOf,
  signalCheck,
} from '../base/check-options.js';
import type { SumItem, SumKey } from './sum-tree-types.js';

export const SUM_CHANGE_OPTIONS = { signal: signalCheck, durability: durabilityCheck };

/** Options of a change of a sum tree. */
export interface SumChangeOptions extends OptionsOf<typeof SUM_CHANGE_OPTIONS> {}

export const SUM_PUT_OPTIONS = {
  /** JSON pointers to key, sum and value, as in a definition, for rows that are not `SumItem`s. */
  key: anything<string>(),
  sum: anything<string>(),
  value: anything<string>(),
  ...SUM_CHANGE_OPTIONS,
  onProgress: fn<(progress: { readonly leaves: number }) => void>(),
};

/** Options of a put of leaves. */
export interface SumPutOptions<Row = SumItem> extends OptionsOf<typeof SUM_PUT_OPTIONS> {
  /** Never set: it only carries the type of a row. */
  readonly row?: Row;
}

export const SUM_SCAN_OPTIONS = {
  /** The first key, whether or not it exists. */
  from: anything<SumKey>(),
  signal: signalCheck,
};

/** Options of a scan of leaves. */
export interface SumScanOptions extends OptionsOf<typeof SUM_SCAN_OPTIONS> {}
