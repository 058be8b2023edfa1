/** The rows that a request of TanStack DB wants. */

import { compileSingleRowExpression, type IR, type LoadSubsetOptions } from '@tanstack/db';
import { compareValues, type SortOptions } from './compare-values.js';
import { conditionsOf, type MemberCondition, memberPath } from './expression-conditions.js';

export type CollectionRow = Record<string, unknown>;

/** A request, or its part on one side of a cursor. */
export interface SubsetPart {
  readonly conditions: readonly MemberCondition[];
  readonly limit: number;
  /** The first column of the order; all its ties are read. */
  readonly lead: Lead | undefined;
  /** Whether a row fulfils the conditions, at any place in the order. */
  test(row: CollectionRow): boolean;
}

/** The first column of an order. */
export interface Lead {
  readonly path: string | undefined;
  readonly how: SortOptions;
  of(row: CollectionRow): unknown;
}

/** The value of the last row of a request that has more rows than were asked for. */
export interface Boundary {
  readonly value: unknown;
}

/** Splits a request at its cursor; without a cursor, the request is the only part. */
export function splitRequest(
  options: LoadSubsetOptions,
  keyOrder: IR.OrderBy,
): readonly SubsetPart[] {
  const { where, orderBy, cursor, limit, offset = 0 } = options;
  if (cursor === undefined) {
    // Rows before an offset belong to the order, too.
    const most = limit === undefined ? Number.POSITIVE_INFINITY : limit + offset;
    return [partOf([where], orderBy?.length ? orderBy : keyOrder, most)];
  }
  return [
    partOf([where, cursor.whereCurrent], orderBy, Number.POSITIVE_INFINITY),
    partOf([where, cursor.whereFrom], orderBy, limit ?? Number.POSITIVE_INFINITY),
  ];
}

function partOf(
  all: readonly (IR.BasicExpression<boolean> | undefined)[],
  orderBy: IR.OrderBy | undefined,
  limit: number,
): SubsetPart {
  const wheres = all.filter((one) => one !== undefined);
  const tests = wheres.map((one) => compileSingleRowExpression(one));
  const clause = limit < Number.POSITIVE_INFINITY ? orderBy?.[0] : undefined;
  return {
    conditions: wheres.flatMap(conditionsOf),
    limit,
    lead: clause && leadOf(clause),
    test: (row) => tests.every((test) => test(row) === true),
  };
}

function leadOf({ expression, compareOptions: how }: IR.OrderByClause): Lead {
  const of = compileSingleRowExpression(expression as IR.BasicExpression);
  return { path: memberPath(expression as IR.BasicExpression), how, of };
}

/** A loaded part of a request: it has all rows up to the boundary. */
export interface LoadedPart {
  readonly wanted: SubsetPart;
  readonly boundary: Boundary | undefined;
}

/** Whether a row belongs to a loaded part. */
export function isIn({ wanted, boundary }: LoadedPart, row: CollectionRow): boolean {
  if (!wanted.test(row)) return false;
  if (boundary === undefined || wanted.lead === undefined) return true;
  return compareValues(wanted.lead.of(row), boundary.value, wanted.lead.how) <= 0;
}
