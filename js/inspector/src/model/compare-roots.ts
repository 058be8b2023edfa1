/** Gathers the changes between two roots as they come: counts all, and keeps the first ones up to a limit. */

import type { Change, Store } from 'hedgerow';

/** The result of a comparison so far. */
export interface ComparisonResult {
  /** The first changes, in the order of keys. */
  readonly changes: readonly Change[];
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  /** Whether all changes were read. */
  readonly isDone: boolean;
}

/** Most changes that are kept and shown. */
export const SHOWN_CHANGES = 5000;
/** Milliseconds between two reports. */
const REPORT_MS = 100;

const COUNTS = { insert: 'added', update: 'changed', delete: 'deleted' } as const;

/** Options of a comparison. */
export interface CompareOptions {
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limit?: number | undefined;
  /** Gets the result so far, at intervals. */
  readonly onProgress?: ((compared: ComparisonResult) => void) | undefined;
}

/** Compares two roots. Costs the nodes that the two do not share; rejects as `db.history.diff` does. */
export async function compareRoots(
  db: Pick<Store, 'history'>,
  from: string,
  to: string,
  { prefix, signal, limit = SHOWN_CHANGES, onProgress }: CompareOptions = {},
): Promise<ComparisonResult> {
  const changes: Change[] = [];
  const counts = { added: 0, changed: 0, deleted: 0 };
  let toldMs = performance.now();
  const range = prefix === undefined || prefix === '' ? {} : { prefix };
  for await (const change of db.history.diff(from, to, { ...range, signal })) {
    counts[COUNTS[change.op]]++;
    if (changes.length < limit) changes.push(change);
    if (onProgress === undefined || performance.now() - toldMs < REPORT_MS) continue;
    toldMs = performance.now();
    onProgress({ changes: [...changes], ...counts, isDone: false });
  }
  return { changes, ...counts, isDone: true };
}
