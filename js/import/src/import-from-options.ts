/** The options of an import, and their checks. */

import { durabilityCheck, flag, fn, type OptionsOf, signalCheck } from 'hedgerow/kit';
import type { ImportFromConflict, ImportFromProgress } from './types.js';

export const IMPORT_FROM_OPTIONS = {
  map: fn<(value: never, key: never) => unknown>(),
  /** Reads the source again, and compares each row with the stored one; `true` by default. */
  verify: flag,
  /** Leaves out records without a row, and lists them; by default the first one ends the import. */
  skipFailed: flag,
  /** Reads an imported source again, and brings in its changes since. */
  again: flag,
  /** Reads and maps all records, lists the ones that would fail, and does not write. */
  dryRun: flag,
  onConflict: fn<(conflict: never) => unknown>(),
  onProgress: fn<(progress: ImportFromProgress) => void>(),
  /** Ends the call with `aborted`. The next call goes on from there. */
  signal: signalCheck,
  durability: durabilityCheck,
};

/** Options of `importFrom`. */
export interface ImportFromOptions<
  Value = unknown,
  Key = IDBValidKey,
  Input = unknown,
  Row = unknown,
> extends OptionsOf<typeof IMPORT_FROM_OPTIONS> {
  /**
   * Makes the row of a record, or a promise of it; for a range, the value. `undefined` leaves the record out. By
   * default the value is the row. It must depend on its arguments alone, since the check calls it again.
   */
  readonly map?:
    | ((value: Value, key: Key) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
  /**
   * Returns the row to keep, which must have the same key; `undefined` for no row. By default, rows that both sides
   * have changed reject the call with `conflict`.
   */
  readonly onConflict?:
    | ((conflict: ImportFromConflict<Row>) => Input | undefined | PromiseLike<Input | undefined>)
    | undefined;
}
