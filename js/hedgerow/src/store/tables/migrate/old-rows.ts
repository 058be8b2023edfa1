/** The rows of a lower version, which an index of each table lists, and the update of one of them. */

import { HedgerowError } from '../../../base/errors.js';
import { Slicer } from '../../../base/slicer.js';
import { namedError } from '../errors.js';
import { type Spec, versionOf } from '../spec.js';
import type { StoreReads } from '../table-context.js';

/** A row that `migrate` or the schema refuses; it stays as it is. */
export interface FailedRow {
  /** Its key in the store. */
  readonly key: string;
  readonly error: unknown;
}

/** Rows that were refused: how many, and the first of them. */
export class RefusedRows {
  rows = 0;
  readonly failed: FailedRow[] = [];

  add(failed: FailedRow): void {
    this.rows += 1;
    if (this.failed.length < MOST_FAILED) this.failed.push(failed);
  }
}

/** Most refused rows that are reported one by one. */
const MOST_FAILED = 1000;

/** Rows between two looks at the clock: `migrate` may take long. */
export const CLOCK_ROWS = 16;

/** Counts the rows of a lower version. */
export function countOld(at: StoreReads, spec: Spec, options: object = {}): Promise<number> {
  return at.count({ index: spec.oldIndex, ...options });
}

/** Returns whether a stored row is of a lower version; a malformed version counts as lower. */
export function isOld(spec: Spec, stored: unknown): boolean {
  try {
    return (versionOf(stored) ?? 1) < spec.version;
  } catch {
    return true;
  }
}

/** Brings the row of a key forward; returns its stored value. Throws an error that says why it cannot. */
export function bringStored(spec: Spec, key: string, stored: unknown): unknown {
  try {
    const made = spec.bringForward(stored);
    if (made.key === key) return made.value;
    throw new HedgerowError(
      'invalid-argument/value',
      'it is stored under another key than its own',
    );
  } catch (cause) {
    throw namedError(cause, spec.name, spec.shownKey(stored));
  }
}

/**
 * Tries to bring old rows forward, which stay as they are. Calls `refused` for each row that fails, and `fits` for
 * other rows; `fits` ends the trial by returning `false`.
 */
export async function tryOld(
  at: StoreReads,
  spec: Spec,
  { refused, fits }: { refused: (row: FailedRow) => void; fits: () => boolean },
  signal: AbortSignal | undefined,
): Promise<void> {
  const slicer = new Slicer({ clockSteps: CLOCK_ROWS });
  for await (const [key, stored] of at.scan({ index: spec.oldIndex, signal })) {
    if (slicer.step()) await slicer.rest();
    try {
      bringStored(spec, key, stored);
    } catch (error) {
      refused({ key, error });
      continue;
    }
    if (!fits()) return;
  }
}
