/** The namespace `db.backup`. */

import { runAbortable } from '../base/run-abortable.js';
import type { Export } from '../engine/transfer/export.js';
import { EXPORT_OPTIONS, type ExportOptions } from '../engine/transfer/export-options.js';
import type { HandleAccess } from './handle-access.js';
import { storeParts } from './on-demand-store-code.js';

/** Copies of a store: `db.backup`. */
export interface StoreBackup {
  /**
   * Makes a copy of all chunks of the head, and of other branches on request, as bytes for `importStore`. Read them by
   * `for await`, or as a `stream()`. It copies the head as it is now, whatever is written or compacted later, and is
   * made as it is read: one or two segments are in memory, and about a hundredth of the store to find them. Each chunk
   * is checked on its way. Segments are copied whole, with their dead chunks: the copy is smallest after `compact()`.
   *
   * Read it to its end, cancel it, or `close()` it: its chunks are kept until then.
   */
  export(options?: ExportOptions): Promise<Export>;
}

export function createBackup({ from }: HandleAccess): StoreBackup {
  return {
    async export(options = {}) {
      from.check();
      const make = async (wanted: ExportOptions, signal: AbortSignal | undefined) => {
        const { exporting } = await storeParts();
        // The reading goes on after this call.
        return exporting.exportStore(from.branchHead, { ...wanted, signal }, () => from.check());
      };
      return runAbortable('backup.export', options, EXPORT_OPTIONS, make, (late) => late.close());
    },
  };
}
