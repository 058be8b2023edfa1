/** Runs an import, in one tab at a time. */

import type { HedgerowError, Store } from 'hedgerow';
import { Leases, type Locks, localLocks, notify, until } from 'hedgerow/kit';
import { tryAll } from './dry-run.js';
import {
  branchOf,
  buildImportResult,
  doneResult,
  type ImportJob,
  openImportBranch,
} from './import-job.js';
import { firstState, type ImportState, Overtaken, StateRow } from './import-state.js';
import { KEY } from './import-state-key.js';
import { runRounds } from './run-import-rounds.js';
import { targetOf } from './stored-row-converter.js';
import type {
  ImportFromConflict,
  ImportFromProgress,
  ImportFromResult,
  OpenRecords,
} from './types.js';

/** The locks of a page without Web Locks. */
let ownLocks: Locks | undefined;

/** The function that reports a phase, and how much was read in it. */
type Tell = (
  phase: ImportFromProgress['phase'],
  read: Pick<ImportFromProgress, 'done' | 'bytes'>,
) => void;

/** Reads and checks all records, and does not write. */
export async function tryImport(job: ImportJob, source: OpenRecords): Promise<ImportFromResult> {
  const { place, options } = job;
  const total = await source.count();
  const found = await tryAll(source, place.db, targetOf(place), options, (read) =>
    notify(options.onProgress, { phase: 'reading', total, ...read }),
  );
  return buildImportResult(job, { ...found, status: 'tried' });
}

/** Imports when no other tab does. */
export async function runImport(job: ImportJob, source: OpenRecords): Promise<ImportFromResult> {
  const { db } = job.place;
  const { onProgress, signal } = job.options;
  const total = await source.count();
  ownLocks ??= localLocks();
  const locks = (globalThis.navigator?.locks as Locks | undefined) ?? ownLocks;
  const leases = new Leases(locks, `hedgerow/${db.name}/`);
  const name = branchOf(job);
  const tell: Tell = (phase, { done, bytes }) => {
    const progress = { phase, done, total, bytes };
    notify(onProgress, progress);
    leases.say(name, progress);
  };
  // The progress that the importing tab reports.
  const onTold = (told: unknown) => told && notify(onProgress, told as ImportFromProgress);
  const work = async () => {
    const branch = await openImportBranch(job);
    try {
      return await importInto(branch, job, source, tell, total);
    } finally {
      await branch.close();
    }
  };
  try {
    for (;;) {
      try {
        return await leases.hold(name, work, signal, onTold);
      } catch (cause) {
        if (!(cause instanceof Overtaken)) throw cause;
      }
    }
  } finally {
    leases.close();
  }
}

/** Returns whether a source has no records; reads the first one if the source does not know their number. */
async function isEmpty(
  source: OpenRecords,
  total: number | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (total !== undefined) return total === 0;
  return (await until(source.read('', 1), signal)).records.length === 0;
}

async function importInto(
  branch: Store,
  job: ImportJob,
  source: OpenRecords,
  tell: Tell,
  total: number | undefined,
): Promise<ImportFromResult> {
  const { place, options } = job;
  const { db, prefix } = place;
  const row = new StateRow(branch);
  const before = await row.read();
  const earlier = options.again === true ? undefined : doneResult(job, before);
  if (earlier !== undefined) return earlier;
  // An import that is done, or was cut off between its end and the merge, is compared.
  const isNew = before === undefined && (await row.count(prefix)) === 0;
  // The old app may have made an empty database again: that is no reason to delete imported rows.
  if (!isNew && (await isEmpty(source, total, options.signal)))
    return buildImportResult(job, { status: 'absent' });
  const begun = before === undefined || before.done ? firstState(!isNew) : before;
  const target = targetOf(place);
  const onRead = ({ round, tally }: ImportState) =>
    tell(round === 0 ? 'reading' : 'verifying', tally);
  const work = { source, target, prefix, branch, row, options, onRead };
  const { state, verified } = await runRounds(work, begun);
  const { tally, changed: changedMeanwhile } = state;
  tell('merging', tally);
  const { signal, durability, onConflict } = options;
  await row.change(async () => undefined, { signal, durability });
  const resolve = async ({ key, base, ours, theirs }: ImportFromConflict) => {
    if (key === KEY) return undefined;
    const toConflictRow = (value: unknown) =>
      value === undefined ? undefined : target.rowOf(key, value);
    const sides = {
      key,
      base: toConflictRow(base),
      ours: toConflictRow(ours),
      theirs: toConflictRow(theirs),
    };
    const kept = await onConflict?.(sides);
    if (kept === undefined) return undefined;
    if (kept === sides.ours) return ours;
    return kept === sides.theirs ? theirs : target.valueOf(kept, key);
  };
  const merging = { signal, durability, onConflict: onConflict && resolve };
  const { rows: applied, conflicts } = await db.branches
    .merge(branchOf(job), merging)
    .catch((cause) => {
      // Another tab goes on: an earlier merge has brought its state, which was deleted then.
      const isState = (cause as HedgerowError).conflicts?.some(({ key }) => key === KEY);
      throw isState ? new Overtaken() : cause;
    });
  await StateRow.remove(db);
  const { rows, skipped, refused, failed } = tally;
  const counts = { rows, skipped, refused, failed, changedMeanwhile, applied, conflicts, verified };
  const done = buildImportResult(job, counts);
  await row.change(async () => ({ ...state, done }), { signal, durability });
  return done;
}
