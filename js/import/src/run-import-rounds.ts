/**
 * Reads a source into a branch, round by round, until a round finds no difference. Each batch of rows is one
 * transaction, which also advances the state: however an import ends, the next one goes on behind the last batch.
 */

import type { Store } from 'hedgerow';
import { buildKeyRange, HedgerowError, Slicer, sameBytes } from 'hedgerow/kit';
import type { ImportFromOptions } from './import-from-options.js';
import { firstState, type ImportState, NOTHING, type StateRow } from './import-state.js';
import { KEY } from './import-state-key.js';
import { RecordReader, type SizedBatch } from './record-reader.js';
import { encodeRecords, Failures, type RecordRow } from './records-to-rows.js';
import type { ImportTarget } from './stored-row-converter.js';
import type { OpenRecords } from './types.js';

/** An import must end even if an app writes all the time. */
const MAX_ROUNDS = 4;

/** The parts that a round works with. */
export interface RoundWork {
  readonly source: OpenRecords;
  readonly target: ImportTarget;
  readonly prefix: string;
  readonly branch: Store;
  readonly row: StateRow;
  readonly options: ImportFromOptions;
  /** Receives the state after each batch. */
  onRead(state: ImportState): void;
}

/** Runs all rounds. Resolves to the state of the last one, and whether it found no difference. */
export async function runRounds(
  work: RoundWork,
  begun: ImportState,
): Promise<{ readonly state: ImportState; readonly verified: boolean }> {
  // Rows that were compared before the import was cut off may have changed since.
  let state: ImportState = isCompared(begun)
    ? { ...begun, after: '', tally: NOTHING, changed: changedBy(begun) }
    : begun;
  for (;;) {
    const seen = state.isSweep ? new Set<string>([KEY]) : undefined;
    state = await runRound(work, state, seen);
    const deleted = seen === undefined ? 0 : await sweep(work, state, seen);
    const { round, tally, isAgain } = state;
    const isWhole = (await work.row.count(work.prefix)) === tally.rows;
    // Rows that the first sweep finds gone may be gone since an earlier import.
    const isNews = round > 1 || !isAgain;
    const changed = changedBy(state) + (isNews ? deleted : 0);
    const verified = isWhole && isCompared(state) && tally.put + deleted === 0;
    const isEnough = verified || work.options.verify === false || round + 1 >= MAX_ROUNDS;
    if (isWhole && isEnough) return { state: { ...state, changed }, verified };
    if (round > MAX_ROUNDS) {
      const message =
        'the source changed again and again while it was read: close the old app, and call again';
      throw new HedgerowError('conflict', message);
    }
    state = { ...firstState(isAgain), round: round + 1, isSweep: !isWhole, changed };
  }
}

/** Returns whether rows are compared with the rows of the branch; otherwise the branch was empty. */
const isCompared = ({ round, isAgain }: ImportState): boolean => round > 0 || isAgain;

/** Counts the rows that have changed since the first round. */
const changedBy = ({ round, changed, tally }: ImportState): number =>
  changed + (round > 0 ? tally.put : 0);

/** Reads from the place of the state to the end of the source. */
async function runRound(
  work: RoundWork,
  begun: ImportState,
  seen: Set<string> | undefined,
): Promise<ImportState> {
  const reader = new RecordReader(work.source, begun.after, work.options.signal);
  let state = begun;
  try {
    for (;;) {
      const batch = await reader.next();
      if (batch.records.length > 0) state = await take(work, state, batch, seen);
      if (batch.isLast) return state;
    }
  } finally {
    await reader.end();
  }
}

/** Writes a batch. */
async function take(
  work: RoundWork,
  before: ImportState,
  { records, bytes, next }: SizedBatch,
  seen: Set<string> | undefined,
): Promise<ImportState> {
  const { target, row, branch, onRead, options } = work;
  const { map, skipFailed, signal, durability } = options;
  const failures = new Failures(skipFailed);
  const { rows, skipped } = await encodeRecords(records, target, map, failures);
  const fresh =
    seen === undefined ? rows : rows.filter(({ key, from }) => failures.isFirst(key, from, seen));
  const changed = isCompared(before) ? await different(branch, fresh) : fresh;
  const { tally } = before;
  let lost: string[] = [];
  const state = await row.change(
    async (tx) => {
      lost = [];
      const refused = new Failures(skipFailed);
      const slicer = new Slicer();
      for (const { key, value, from } of changed) {
        try {
          tx.put(key, value);
        } catch (cause) {
          refused.add(from, cause);
          lost.push(key);
        }
        if (slicer.step()) await slicer.rest();
      }
      return {
        ...before,
        after: next,
        tally: {
          done: tally.done + records.length,
          bytes: tally.bytes + bytes,
          rows: tally.rows + fresh.length - refused.count,
          skipped: tally.skipped + skipped,
          refused: tally.refused + failures.count + refused.count,
          failed: refused.after(failures.after(tally.failed)),
          put: tally.put + changed.length - refused.count,
        },
      };
    },
    { signal, durability },
  );
  for (const key of lost) seen?.delete(key);
  onRead(state);
  return state;
}

/** Returns the rows that the branch lacks, or has with other values. */
async function different(branch: Store, rows: readonly RecordRow[]): Promise<RecordRow[]> {
  const found = await branch.getMany(rows.map(({ key }) => key));
  const others: RecordRow[] = [];
  const slicer = new Slicer();
  for (const [at, row] of rows.entries()) {
    if (!isSame(found[at], row.value)) others.push(row);
    if (slicer.step()) await slicer.rest();
  }
  return others;
}

/** Returns whether `stored` is the stored form of a value. */
function isSame(stored: unknown, value: unknown): boolean {
  if (stored instanceof Uint8Array || ArrayBuffer.isView(value)) {
    const areBytes = stored instanceof Uint8Array && value instanceof Uint8Array;
    return areBytes && sameBytes(stored, value);
  }
  try {
    return stored !== undefined && JSON.stringify(stored) === JSON.stringify(value);
  } catch {
    // The store reports what is wrong with it.
    return false;
  }
}

/** Deletes the rows that have lost their record; resolves to their number. */
async function sweep(
  { branch, row, prefix, options }: RoundWork,
  state: ImportState,
  seen: ReadonlySet<string>,
): Promise<number> {
  const { signal, durability } = options;
  const left: string[] = [];
  for await (const key of branch.scan({ ...buildKeyRange({ prefix }), signal }).keys()) {
    if (!seen.has(key)) left.push(key);
  }
  if (left.length === 0) return 0;
  await row.change(
    async (tx) => {
      await tx.deleteMany(left);
      return state;
    },
    { signal, durability },
  );
  return left.length;
}
