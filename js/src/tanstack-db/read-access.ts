/** Which index, or which keys, are read for what is asked. */

import { isPlainBound } from './compare-values.js';
import type { BoundName, MemberCondition } from './expression.js';

/** What rows can be read by: an index, or their keys. */
export interface Candidate {
  /** The paths of its columns. */
  readonly columns: readonly string[];
  /** Whether it has rows that lack a column. */
  readonly nulls: boolean;
  /** Whether its columns are the key of a row. */
  readonly isKey: boolean;
  /** Whether rows do not come in the order of its columns. */
  readonly isUnordered?: boolean;
  /** How a value stands in its columns; `undefined` for what does not stand there. */
  columnOf(value: unknown): unknown;
}

/** How a candidate is read. */
export interface ReadAccess<C extends Candidate = Candidate> {
  readonly by: C;
  /** The ranges: values of the first columns. */
  readonly starts: readonly (readonly unknown[])[];
  /** Of the column after those. */
  readonly bounds: Readonly<Partial<Record<BoundName, unknown>>>;
  /** Whether the column after those is the leading one of the order. */
  readonly isOrdered: boolean;
  /** How many conditions it answers. */
  readonly answers: number;
}

/** Ranges that one request is split into, at most. */
const MOST_RANGES = 1_000;

/** The ways to read rows that fulfil conditions, in an order that begins with `lead`. */
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
  /** Columns of which it is known that no wanted row lacks them. */
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

/** The values that a column may have, as it has them; `undefined` if that is not known. */
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
