/** Changes of rows as the app has them. */

import { report } from '../../base/call-callback-safely.js';
import type { Change } from '../../engine/read/decode-diff.js';
import { makeRows, type Rows } from '../../engine/read/scan.js';
import type { RowTest } from './match-row.js';
import type { Row, Spec } from './spec.js';

/** A change of a row of a table. */
export type RowChange<R = Row> =
  | { readonly op: 'insert'; readonly key: unknown; readonly newValue: R }
  | { readonly op: 'update'; readonly key: unknown; readonly oldValue: R; readonly newValue: R }
  | { readonly op: 'delete'; readonly key: unknown; readonly oldValue: R };

/** Passes on the changes of stored rows as changes of wanted rows; calls `callback` only if there are any. */
export function forwardRowChanges(
  spec: Spec,
  wanted: RowTest | undefined,
  { reverse, initial, isIndex }: Record<'reverse' | 'initial' | 'isIndex', boolean>,
  callback: (changes: readonly RowChange[], at: { readonly root: string }) => unknown,
): (changes: readonly Change[], at: { readonly root: string }) => unknown {
  let isFirst = true;
  return (changes, at) => {
    const all: RowChange[] = [];
    const faults: unknown[] = [];
    for (const change of isIndex ? joined(changes) : changes) {
      const made = toRowChange(spec, change, wanted, faults);
      if (made !== undefined) all.push(made);
    }
    reportFaults(faults);
    // The first call of a watch with `initial` is made even if there are no rows.
    const isCalled = all.length > 0 || (isFirst && initial);
    isFirst = false;
    return isCalled ? callback(reverse ? all.reverse() : all, at) : undefined;
  };
}

/** Returns what `make` returns, or `undefined` if it throws; adds the error to `faults`. */
function unless<T>(make: () => T, faults?: unknown[]): T | undefined {
  try {
    return make();
  } catch (cause) {
    faults?.push(cause);
    return undefined;
  }
}

/** Reports the errors of the rows of one call as one: an old tab may see thousands of newer rows at once. */
function reportFaults(faults: readonly unknown[]): void {
  const [cause] = faults;
  const { length } = faults;
  if (length > 0)
    report(length > 1 ? new Error(`${length} rows cannot be read`, { cause }) : cause);
}

/** Joins the changes of the index entries of a row to one change, at the present place of the row. */
function joined(changes: readonly Change[]): Iterable<Change> {
  const all = new Map<string, Change>();
  for (const change of changes) {
    const { key } = change;
    const before = all.get(key);
    if (before?.op === 'delete') all.delete(key);
    all.set(key, before === undefined ? change : both(before, change));
  }
  return all.values();
}

function both(one: Change, other: Change): Change {
  const { key } = one;
  const from = one.op === 'insert' ? other : one;
  const to = one.op === 'delete' ? other : one;
  if (from.op === 'insert' || to.op === 'delete') return one;
  return { op: 'update', key, oldValue: from.oldValue, newValue: to.newValue };
}

/** Turns changes of the store into changes of rows. Throws the error of a row that cannot be read. */
export function changesOfRows(spec: Spec, changes: AsyncIterable<Change>): Rows<RowChange> {
  return makeRows(async function* () {
    for await (const change of changes) {
      const oldValue = change.op === 'insert' ? undefined : spec.decode(change.oldValue);
      const newValue = change.op === 'delete' ? undefined : spec.decode(change.newValue);
      yield changeOf(spec, oldValue, newValue) as RowChange;
    }
  });
}

/** Returns the change of a wanted row, or `undefined` for other rows. A row that cannot be read counts as absent. */
function toRowChange(
  spec: Spec,
  change: Change,
  wanted: RowTest | undefined,
  faults: unknown[],
): RowChange | undefined {
  const rowOf = (stored: unknown) => {
    if (wanted?.isStoredMatch(stored) === false) return undefined;
    const row = spec.rowOf(change.key, stored);
    return wanted?.isRowMatch(row) === false ? undefined : row;
  };
  const oldValue = change.op === 'insert' ? undefined : unless(() => rowOf(change.oldValue));
  const newValue =
    change.op === 'delete' ? undefined : unless(() => rowOf(change.newValue), faults);
  return changeOf(spec, oldValue, newValue);
}

function changeOf(
  spec: Spec,
  oldValue: Row | undefined,
  newValue: Row | undefined,
): RowChange | undefined {
  if (oldValue === undefined && newValue === undefined) return undefined;
  const key = spec.shownKey(newValue ?? oldValue);
  if (oldValue === undefined) return newValue && { op: 'insert', key, newValue };
  return newValue === undefined
    ? { op: 'delete', key, oldValue }
    : { op: 'update', key, oldValue, newValue };
}
