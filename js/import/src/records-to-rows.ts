/** Makes rows of records, and lists the records without a row. */

import { checkKey, HedgerowError, isRefusal, kindOfError, Slicer } from 'hedgerow/kit';
import { describeSourceKey } from './convert-idb-keys.js';
import { withFiles } from './foreign-values.js';
import type { ImportFromOptions } from './import-from-options.js';
import type { ImportedRow, ImportTarget } from './stored-row-converter.js';
import type { FailedRecord } from './types.js';

/** A row, with the key of its record. */
export interface RecordRow extends ImportedRow {
  readonly from: unknown;
}

/** The most failures that a list has. */
const LISTED = 100;

/** The records without a row, of a batch or of a round. */
export class Failures {
  readonly #isSkipping: boolean;
  count = 0;
  readonly list: FailedRecord[] = [];

  constructor(isSkipping: boolean | undefined) {
    this.#isSkipping = isSkipping === true;
  }

  /** Notes that a record has no row. Throws the cause, unless the call leaves such records out. */
  add(key: unknown, cause: unknown): void {
    const isTyped = cause instanceof HedgerowError;
    // An error such as `closed` is the fault of no record.
    if (isTyped && !isRefusal(cause)) throw cause;
    const from = describeSourceKey(key);
    if (!this.#isSkipping) {
      if (!isTyped) throw cause;
      const { message, pointer, table, issues } = cause;
      const facts = { cause, key: cause.key, pointer, table, issues };
      throw new HedgerowError(kindOfError(cause), `record ${from}: ${message}`, facts);
    }
    this.count += 1;
    if (this.list.length >= LISTED) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    const { code, detail, pointer } = isTyped ? cause : ({} as Partial<HedgerowError>);
    this.list.push({
      key: from,
      ...(code && { code }),
      ...(detail && { detail }),
      message,
      ...(pointer && { pointer }),
    });
  }

  /** Returns whether a key is new in `seen`; otherwise notes that the record has no row. */
  isFirst(key: string, from: unknown, seen: Set<string>): boolean {
    if (!seen.has(key)) return seen.add(key) !== undefined;
    const message = `another record has the key ${JSON.stringify(key)} too: give each its own`;
    this.add(from, new HedgerowError('invalid-argument/key', message, { key }));
    return false;
  }

  /** Lists the failures of an earlier part of the round before these, up to `LISTED`. */
  after(before: readonly FailedRecord[]): FailedRecord[] {
    return [...before, ...this.list].slice(0, LISTED);
  }
}

/** Makes the rows of records, in slices; adds records without a row to `failures`, and counts what `map` leaves out. */
export async function encodeRecords(
  records: readonly (readonly [key: unknown, value: unknown])[],
  target: ImportTarget,
  map: ImportFromOptions['map'],
  failures: Failures,
): Promise<{ readonly rows: RecordRow[]; readonly skipped: number }> {
  const rows: RecordRow[] = [];
  const slicer = new Slicer();
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
    if (slicer.step()) await slicer.rest();
  }
  return { rows, skipped };
}

/** Makes a row as `toStoredRow` does, with files for blobs where a table can hold them. */
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
