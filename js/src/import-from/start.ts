/** An import, and what earlier calls have left of it. */

import { EMPTY_ROOT } from '../base/root.js';
import type { ImportDestination } from './import-destination.js';
import { KEY, type StoredState } from './state-key.js';
import type { ImportFromOptions, ImportFromResult, RecordSource } from './types.js';

/** A call of `importFrom`, checked. */
export interface ImportJob {
  readonly source: RecordSource;
  readonly place: ImportDestination;
  readonly options: ImportFromOptions;
  readonly startMs: number;
}

/** The branch of an import: of one source into one place. */
export function branchOf({ source, place: { db, prefix } }: ImportJob): string {
  const to = db.branchName === 'main' ? '' : `@${db.branchName}`;
  return `import/${encodeURIComponent(source.name)}/${prefix}${to}`;
}

/**
 * Opens that branch. It begins with nothing but what is imported: so rows can be counted, and those of the app are never
 * taken for imported ones.
 */
export const openImportBranch = (job: ImportJob) =>
  job.place.db.branch(branchOf(job), { from: EMPTY_ROOT });

export function buildImportResult(
  job: ImportJob,
  members: Partial<ImportFromResult>,
): ImportFromResult {
  return {
    ...{ status: 'imported', rows: 0, skipped: 0, refused: 0, failed: [], changedMeanwhile: 0 },
    ...{ applied: 0, conflicts: 0, verified: false, ...members, branch: branchOf(job) },
    tookMs: performance.now() - job.startMs,
  };
}

/** The result of a call that was made before, if the state says so. */
export function doneResult(
  job: ImportJob,
  state: StoredState | undefined,
): ImportFromResult | undefined {
  return state?.done && buildImportResult(job, { ...state.done, status: 'already' });
}

/** What an earlier call has come to; `undefined` if there is more to do. */
export async function earlierResult(job: ImportJob): Promise<ImportFromResult | undefined> {
  const { db } = job.place;
  const name = branchOf(job);
  const all = await db.branches();
  if (!all.some((one) => one.name === name)) return undefined;
  // Another tab may have deleted it since.
  const branch = await openImportBranch(job);
  try {
    const row = (await branch.get(KEY)) as { import: StoredState } | undefined;
    return doneResult(job, row?.import);
  } finally {
    await branch.close();
  }
}
