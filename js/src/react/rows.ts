/** Lists of shown rows: a new list for each change, with the same objects for unchanged rows. */

import { compareKeys } from '../base/key.js';
import { sameValue } from '../base/same-value.js';
import type { Change } from '../index.js';

/** A shown row. */
export type Row<Value = unknown> = readonly [key: string, value: Value];

/** A new list: `rows` with `changes` applied, which are in ascending order of their keys. */
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

/** `rows`, with the old object for each row that is equal to one `before`; `before` itself if all are. */
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
    const old = known.get(row[0])?.find((old) => sameValue(old, row)) ?? row;
    isSame &&= old === before[at];
    return old;
  });
  return isSame ? before : all;
}
