/** Makes rows of records, and tells which records have none. */

import { HedgerowError, isRefusal } from '../base/errors.js';
import { checkKey } from '../base/key.js';
import { turn } from '../base/scheduler.js';
import { withFiles } from './foreign-values.js';
import { describeSourceKey } from './keys.js';
import type { ImportedRow, ImportTarget } from './target.js';
import type { FailedRecord, ImportFromOptions } from './types.js';

/** A row, and the key of its record. */
export interface RecordRow extends ImportedRow {
  readonly from: unknown;
}

/** Most failures that are listed. */
const LISTED = 100;

/** Milliseconds that this code holds the thread at a time, beside what others do in the turn. */
const SLICE_MS = 4;

/** Lets the page work between parts of a loop. */
export class EncodeSlices {
  #endMs = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#endMs;
  }

  async next(): Promise<void> {
    await turn();
    this.#endMs = performance.now() + SLICE_MS;
  }
}

/** Records that have no row, of a batch or of a round. */
export class Failures {
  readonly #isSkipping: boolean;
  count = 0;
  readonly list: FailedRecord[] = [];

  constructor(isSkipping: boolean | undefined) {
    this.#isSkipping = isSkipping === true;
  }

  /** Notes that a record has no row. Throws why, unless such records are left out. */
  add(key: unknown, cause: unknown): void {
    const isTyped = cause instanceof HedgerowError;
    // Such as `closed`: no record is at fault.
    if (isTyped && !isRefusal(cause)) throw cause;
    const from = describeSourceKey(key);
    if (!this.#isSkipping) {
      if (!isTyped) throw cause;
      const { code, message, pointer, table, issues } = cause;
      const facts = { cause, key: cause.key, pointer, table, issues };
      throw new HedgerowError(code, `record ${from}: ${message}`, facts);
    }
    this.count += 1;
    if (this.list.length >= LISTED) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    const { code, pointer } = isTyped ? cause : ({} as Partial<HedgerowError>);
    this.list.push({ key: from, ...(code && { code }), message, ...(pointer && { pointer }) });
  }

  /** Whether no record before had the key of a row; else the record has none. */
  isFirst(key: string, from: unknown, seen: Set<string>): boolean {
    if (!seen.has(key)) return seen.add(key) !== undefined;
    const message = `another record has the key ${JSON.stringify(key)} too: give each its own`;
    this.add(from, new HedgerowError('invalid-key', message, { key }));
    return false;
  }

  /** With those of an earlier part of the round. */
  after(before: readonly FailedRecord[]): FailedRecord[] {
    return [...before, ...this.list].slice(0, LISTED);
  }
}

/** The rows of records, in slices; adds those to `failures` that have none. Counts those that `map` leaves out. */
export async function encodeRecords(
  records: readonly (readonly [key: unknown, value: unknown])[],
  target: ImportTarget,
  map: ImportFromOptions['map'],
  failures: Failures,
): Promise<{ readonly rows: RecordRow[]; readonly skipped: number }> {
  const rows: RecordRow[] = [];
  const slices = new EncodeSlices();
  let skipped = 0;
  for (const [from, given] of records) {
    try {
      let row = given;
      if (map !== undefined) {
        row = map(given, from as IDBValidKey);
        if (typeof (row as PromiseLike<unknown> | undefined)?.then === 'function') row = await row;
      }
      if (map !== undefined && row === undefined) skipped += 1;
      else {
        const { key, value } = await storedOf(row, from, target);
        checkKey(key);
        rows.push({ key, value, from });
      }
    } catch (cause) {
      failures.add(from, cause);
    }
    if (slices.isOver) await slices.next();
  }
  return { rows, skipped };
}

/** As `target.stored`, with files for blobs where a table can hold them. */
function storedOf(
  row: unknown,
  from: unknown,
  target: ImportTarget,
): ImportedRow | Promise<ImportedRow> {
  try {
    return target.toStoredRow(row, from);
  } catch (cause) {
    if (!target.isTable || !isRefusal(cause)) throw cause;
    return withFiles(row).then((made) => {
      if (made === row) throw cause;
      return target.toStoredRow(made, from);
    });
  }
}
