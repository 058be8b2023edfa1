/** Begins an import, and finds what earlier calls have left of it. */

import { EMPTY_ROOT } from 'hedgerow/kit';
import type { ImportDestination } from './import-destination.js';
import type { ImportFromOptions } from './import-from-options.js';
import { KEY, type StoredState } from './import-state-key.js';
import type { ImportFromResult, RecordSource } from './types.js';

/** The checked arguments of `importFrom`. */
export interface ImportJob {
  readonly source: RecordSource;
  readonly place: ImportDestination;
  readonly options: ImportFromOptions;
  readonly startMs: number;
}

/** Returns the branch name of an import: one for each source and place. */
export function branchOf({ source, place: { db, prefix } }: ImportJob): string {
  const to = db.branches.current === 'main' ? '' : `@${db.branches.current}`;
  return `import/${encodeURIComponent(source.name)}/${prefix}${to}`;
}

/**
 * Opens that branch. It begins empty, so that its rows can be counted and rows of the app are never taken for imported
 * ones.
 */
export const openImportBranch = (job: ImportJob) =>
  job.place.db.branches.open(branchOf(job), { from: EMPTY_ROOT });

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

/** Returns the result of an earlier call, if the state has it. */
export function doneResult(
  job: ImportJob,
  state: StoredState | undefined,
): ImportFromResult | undefined {
  return state?.done && buildImportResult(job, { ...state.done, status: 'already' });
}

/** Resolves to the result of an earlier call; to `undefined` if there is more to do. */
export async function earlierResult(job: ImportJob): Promise<ImportFromResult | undefined> {
  const { db } = job.place;
  const name = branchOf(job);
  const all = await db.branches.list();
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
