/** The options of imports, and their checks. */

import {
  durabilityCheck,
  flag,
  fn,
  type OptionsOf,
  signalCheck,
  sliceLength,
} from '../../base/check-options.js';
import { encryptionCheck, storageCheck } from '../../storage/storage-checks.js';

/** The progress of an import. */
export interface ImportProgress {
  /** Bytes of the export that are done, including bytes that an earlier import stored. */
  readonly bytes: number;
  /** Rows of the main branch that were verified from storage, which is the last part of the work. */
  readonly rows: number;
  /** The approximate fraction of the work that is done: from 0 to 1. */
  readonly fraction: number;
}

export const IMPORT_OPTIONS = {
  /** The place of the store; `idb()` by default. */
  storage: storageCheck,
  /** As in `open`: the import encrypts the store. */
  encryption: encryptionCheck(),
  /** The moment when the import's writes count as done; `'relaxed'` by default. */
  durability: durabilityCheck,
  /** Milliseconds that a slice of work may hold the thread; 8 by default. */
  sliceMs: sliceLength,
  /** Also check that each index has exactly the entries that the rows make, as `verify` does; false by default. */
  checkIndexes: flag,
  /** Aborts the import. A later import of the same export continues it. */
  signal: signalCheck,
  /** Called after each segment, and as rows are verified. */
  onProgress: fn<(progress: ImportProgress) => void>(),
};

/** Options of an import. */
export interface ImportOptions extends OptionsOf<typeof IMPORT_OPTIONS> {}
