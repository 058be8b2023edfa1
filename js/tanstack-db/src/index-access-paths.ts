/** Finds the indexes, or keys, by which a request can be read. */

import { isPlainBound } from './compare-values.js';
import type { BoundName, MemberCondition } from './expression-conditions.js';

/** An index, or the keys, by which rows can be read. */
export interface Candidate {
  /** The paths of its columns. */
  readonly columns: readonly string[];
  /** Whether it has rows that lack a column. */
  readonly nulls: boolean;
  /** Whether its columns are the key of a row. */
  readonly isKey: boolean;
  /** Whether rows do not come in the order of its columns. */
  readonly isUnordered?: boolean;
  /** Returns a value as it is in a column; `undefined` for a value that is in no column. */
  columnOf(value: unknown): unknown;
}

/** A way to read a candidate. */
export interface ReadAccess<C extends Candidate = Candidate> {
  readonly by: C;
  /** The ranges: values of the first columns. */
  readonly starts: readonly (readonly unknown[])[];
  /** The bounds of the next column. */
  readonly bounds: Readonly<Partial<Record<BoundName, unknown>>>;
  /** Whether the next column leads the order. */
  readonly isOrdered: boolean;
  /** The number of conditions that it answers. */
  readonly answers: number;
}

/** Most ranges into which one request is split. */
const MOST_RANGES = 1_000;

/** Finds ways to read rows that fulfil conditions, in an order that begins with `lead`. */
export function accessesOf<C extends Candidate>(
  candidates: readonly C[],
  conditions: readonly MemberCondition[],
  lead: string | undefined,
): ReadAccess<C>[] {
  return candidates.flatMap((by) => accessOf(by, conditions, lead) ?? []);
}

function accessOf<C extends Candidate>(
  by: C,
  conditions: readonly MemberCondition[],
  lead: string | undefined,
): ReadAccess<C> | undefined {
  let starts: readonly (readonly unknown[])[] = [[]];
  let answers = 0;
  /** The number of columns that all wanted rows are known to have. */
  let present = 0;
  let at = 0;
  for (; at < by.columns.length; at += 1) {
    const values = valuesOf(by, conditions, by.columns[at]);
    if (values === undefined || starts.length * values.length > MOST_RANGES) break;
    if (values.includes(null) && !by.nulls) return undefined;
    starts = starts.flatMap((start) => values.map((value) => [...start, value]));
    answers += 1;
    present += 1;
  }
  const bounds: Partial<Record<BoundName, unknown>> = {};
  for (const condition of conditions) {
    if (!('bound' in condition) || condition.path !== by.columns[at]) continue;
    const { bound, value } = condition;
    const column = isPlainBound(value) ? by.columnOf(value) : undefined;
    const isTaken = (bound[0] === 'g' ? ['gt', 'gte'] : ['lt', 'lte']).some((one) => one in bounds);
    if (column === undefined || isTaken) continue;
    bounds[bound] = column;
    answers += 1;
  }
  if (Object.keys(bounds).length > 0) present += 1;
  if (!by.nulls && present < by.columns.length) return undefined;
  const isOrdered = lead !== undefined && by.columns[at] === lead && !by.isUnordered;
  return { by, starts, bounds, isOrdered, answers };
}

/** Returns the values that a column may have, as it has them; `undefined` if they are unknown. */
function valuesOf(
  by: Candidate,
  conditions: readonly MemberCondition[],
  path: string | undefined,
): unknown[] | undefined {
  for (const condition of conditions) {
    if (!('values' in condition) || condition.path !== path) continue;
    const values = condition.values.map((value) => (value === null ? null : by.columnOf(value)));
    if (!values.includes(undefined)) return [...new Set(values)];
  }
  return undefined;
}
