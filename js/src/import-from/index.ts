/**
 * `hedgerow/import`: brings what another library has stored in this browser into a table. An app calls it at each start: so
 * here is only what finds out that nothing is left to import, and the rest is loaded when it is needed.
 */
import { checkHas, optionsOf } from '../base/options.js';
import { ending } from '../base/signal.js';
import { resolveDestination } from './import-destination.js';
import { loadImport } from './load-import.js';
import { buildImportResult, earlierResult, type ImportJob } from './start.js';
import { checkTextOption } from './text-option.js';
import type {
  ImportFromOptions,
  ImportFromResult,
  ImportRange,
  ImportTable,
  RecordSource,
} from './types.js';

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
  ImportFromOptions,
  ImportFromProgress,
  ImportFromResult,
  ImportRange,
  ImportTable,
  OpenRecords,
  RecordBatch,
  RecordSource,
} from './types.js';

const OPTIONS =
  'map:function verify:boolean skipFailed:boolean again:boolean dryRun:boolean onConflict onProgress signal durability';

/**
 * Imports all records of a source into a table, or under a prefix of a store. They are read into a branch first, batch by
 * batch, checked, and then merged in one commit: others see all of them or none. What was cut off goes on where it was
 * when the call is made again; once it was made, the call resolves at once, so that an app can make it at each start. Of
 * several tabs one imports, and the others wait for it. The source is not changed.
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
  const options = optionsOf('importFrom', given, OPTIONS) as ImportFromOptions;
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
  // Before anything is written.
  const opened = await job.source.open();
  if (opened === undefined) return buildImportResult(job, { status: 'absent' });
  try {
    const { runImport, tryImport } = await loadImport();
    return await (dryRun ? tryImport : runImport)(job, opened);
  } finally {
    opened.close();
  }
}
