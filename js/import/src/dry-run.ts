/** Tries an import: reads and maps all records, and lets a transaction check the rows without a write. */

import type { Store } from 'hedgerow';
import { Slicer } from 'hedgerow/kit';
import type { ImportFromOptions } from './import-from-options.js';
import { RecordReader } from './record-reader.js';
import { encodeRecords, Failures } from './records-to-rows.js';
import type { ImportTarget } from './stored-row-converter.js';
import type { ImportFromProgress, OpenRecords } from './types.js';

/** Ends a transaction that must not take effect. */
const NOT_MADE = new Error('a dry run writes nothing');

export async function tryAll(
  source: OpenRecords,
  db: Store,
  target: ImportTarget,
  { map, signal }: ImportFromOptions,
  onRead: (read: Pick<ImportFromProgress, 'done' | 'bytes'>) => void,
) {
  const reader = new RecordReader(source, '', signal);
  const failures = new Failures(true);
  const keys = new Set<string>();
  let [done, bytes, skipped, rows] = [0, 0, 0, 0];
  for (;;) {
    const batch = await reader.next();
    const made = await encodeRecords(batch.records, target, map, failures);
    const check = async (tx: { put(key: string, value: unknown): void }) => {
      const slicer = new Slicer();
      for (const { key, value, from } of made.rows) {
        try {
          tx.put(key, value);
          if (failures.isFirst(key, from, keys)) rows += 1;
        } catch (cause) {
          failures.add(from, cause);
        }
        if (slicer.step()) await slicer.rest();
      }
      throw NOT_MADE;
    };
    await db.transaction(check, { signal }).catch((cause: unknown) => {
      if (cause !== NOT_MADE) throw cause;
    });
    done += batch.records.length;
    bytes += batch.bytes;
    skipped += made.skipped;
    onRead({ done, bytes });
    if (batch.isLast) return { rows, skipped, refused: failures.count, failed: failures.list };
  }
}
