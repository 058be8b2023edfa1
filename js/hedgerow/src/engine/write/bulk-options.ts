/** The options of bulk puts, bulk deletes and patches. */

import type { ByteFormat } from '../../base/byte-source.js';
import {
  anything,
  choice,
  durabilityCheck,
  fn,
  type OptionsOf,
  signalCheck,
} from '../../base/check-options.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Progress } from './ingest.js';
import type { KeySelector } from './row-gatherer.js';

export const DELETE_MANY_OPTIONS = {
  /** Rejects the call at once with `aborted`; the store does not change. */
  signal: signalCheck,
  /** The durability of the store by default. */
  durability: durabilityCheck,
};

/** Options of a deletion of many rows. */
export interface DeleteManyOptions extends OptionsOf<typeof DELETE_MANY_OPTIONS> {}

export const LOAD_OPTIONS = {
  /** The format of bytes; by default it is detected from their start. */
  format: choice<ByteFormat>('ndjson', 'json'),
  /** Called at most once every 16 ms, and at the end. */
  onProgress: fn<(progress: Progress) => void>(),
  ...DELETE_MANY_OPTIONS,
};

/** Options of a bulk put of rows whose keys are known, and of a patch. */
export interface LoadOptions extends OptionsOf<typeof LOAD_OPTIONS> {}

export const PUT_MANY_OPTIONS = {
  key: anything<KeySelector<never>>(),
  /** Added before every key. */
  prefix: anything<string>(),
  ...LOAD_OPTIONS,
};

/** Options of a bulk put. */
export interface PutManyOptions<Row> extends OptionsOf<typeof PUT_MANY_OPTIONS> {
  /**
   * The place of the key in a row: a JSON pointer such as `/id`, or a function of the row (not for rows that come as
   * bytes). Without it rows are `[key, value]`. The pointer must lead to a string; for a number use
   * `(row) => String(row.id)`. A row is read up to a slice after the source yields it: a source must not change a row
   * and yield it again.
   */
  readonly key?: KeySelector<Row> | undefined;
}

/** The work on the rows of a source. */
export interface BulkJob<Row> extends PutManyOptions<Row> {
  readonly durability: Durability;
  /** Rows are keys to delete, or operations of a patch; by default they are put. */
  readonly deletes?: boolean;
  readonly isPatch?: boolean;
  /** Called with bytes before the core takes them. */
  readonly look?: ((bytes: Uint8Array) => void) | undefined;
  /** Earlier edits; a patch whose operations are in memory waits for them. */
  readonly after?: Promise<unknown> | undefined;
}
