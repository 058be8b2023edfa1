/**
 * `@hedgerow/import`: imports what another library has stored in this browser into a table. An app calls it at each
 * start, so this file only finds out whether an import is left to do, and loads the rest when it is needed.
 */
import { checkHas, ending, optionsOf } from 'hedgerow/kit';
import { resolveDestination } from './import-destination.js';
import { IMPORT_FROM_OPTIONS, type ImportFromOptions } from './import-from-options.js';
import { buildImportResult, earlierResult, type ImportJob } from './import-job.js';
import { loadImport } from './on-demand-import-code.js';
import { checkTextOption } from './text-option.js';
import type { ImportFromResult, ImportRange, ImportTable, RecordSource } from './types.js';

export type { ImportFromOptions } from './import-from-options.js';
export {
  fromDexie,
  fromEntries,
  fromIdbKeyval,
  fromIndexedDB,
  fromLocalForage,
} from './sources.js';
export type {
  FailedRecord,
  ImportFromConflict,
  ImportFromProgress,
  ImportFromResult,
  ImportRange,
  ImportTable,
  OpenRecords,
  RecordBatch,
  RecordSource,
} from './types.js';

/**
 * Imports all records of a source into a table, or under a prefix of a store. It reads them into a branch, batch by
 * batch, checks them, and merges them in one commit: others see all of them at once. After an interruption the next
 * call goes on from there; after a complete import it resolves at once, so that an app can call it at each start. Of
 * several tabs one imports, and the others wait for it. The source does not change.
 */
export function importFrom<Value, Key, Input, Row = Input>(
  source: RecordSource<Value, Key>,
  target: ImportTable<Input>,
  options?: ImportFromOptions<Value, Key, Input, Row>,
): Promise<ImportFromResult>;
export function importFrom<Value, Key>(
  source: RecordSource<Value, Key>,
  target: ImportRange<NoInfer<Value>, NoInfer<Key>>,
  options?: ImportFromOptions<Value, Key>,
): Promise<ImportFromResult>;
export async function importFrom(
  source: RecordSource,
  target: ImportTable | ImportRange,
  given: ImportFromOptions = {},
): Promise<ImportFromResult> {
  const options = optionsOf('importFrom', given, IMPORT_FROM_OPTIONS);
  checkHas('importFrom', source, 'open', 'a source, such as fromIndexedDB({ database, store })');
  checkTextOption('importFrom', 'the name of a source', source.name);
  const place = resolveDestination(target);
  const run = (signal: AbortSignal | undefined) =>
    performImport({ source, place, options: { ...options, signal }, startMs: performance.now() });
  return ending(options.signal, run).result;
}

async function performImport(job: ImportJob): Promise<ImportFromResult> {
  const { again, dryRun } = job.options;
  const before = again || dryRun ? undefined : await earlierResult(job);
  if (before !== undefined) return before;
  // Opens the source before the first write.
  const opened = await job.source.open();
  if (opened === undefined) return buildImportResult(job, { status: 'absent' });
  try {
    const { runImport, tryImport } = await loadImport();
    return await (dryRun ? tryImport : runImport)(job, opened);
  } finally {
    opened.close();
  }
}
