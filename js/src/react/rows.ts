/** Rows as they are shown: a new list for each change, in which what has not changed is the same. */

import { compareKeys } from '../base/key.js';
import type { Change } from '../index.js';

/** A row that is shown. */
export type Row<Value = unknown> = readonly [key: string, value: Value];

/** `rows` with `changes` made to them, which are ordered as the store tells them. */
export function changed(
  rows: readonly Row[],
  changes: readonly Change[],
  reverse: boolean,
): readonly Row[] {
  const sign = reverse ? -1 : 1;
  const ordered = reverse ? [...changes].reverse() : changes;
  const all: Row[] = [];
  let at = 0;
  for (const change of ordered) {
    const { key } = change;
    let [from, to] = [at, rows.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sign * compareKeys((rows[middle] as Row)[0], key) < 0) from = middle + 1;
      else to = middle;
    }
    while (at < from) all.push(rows[at++] as Row);
    if (rows[at]?.[0] === key) at += 1;
    if (change.op !== 'del') all.push([key, change.newValue]);
  }
  while (at < rows.length) all.push(rows[at++] as Row);
  return all;
}

/** `rows`, but what was there `before`, and is the same, is what it was. */
export function reconciled(before: readonly Row[], rows: readonly Row[]): readonly Row[] {
  // An index lists a row more than once when it has several entries.
  const known = new Map<string, Row[]>();
  for (const row of before) {
    const same = known.get(row[0]);
    if (same === undefined) known.set(row[0], [row]);
    else same.push(row);
  }
  let isSame = before.length === rows.length;
  const all = rows.map((row, at) => {
    const old = known.get(row[0])?.find((old) => areEqual(old, row)) ?? row;
    isSame &&= old === before[at];
    return old;
  });
  return isSame ? before : all;
}

/** Whether two values, as a store gives them, are the same. */
export function areEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Uint8Array) {
    const other = b as Uint8Array;
    return a.length === other.length && a.every((byte, at) => byte === other[at]);
  }
  const [own, others] = [Object.keys(a), Object.keys(b)];
  if (own.length !== others.length) return false;
  return own.every(
    (name, at) =>
      // The order of members is part of a value.
      name === others[at] &&
      areEqual((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}
