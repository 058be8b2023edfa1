/** The terms of a query, before it is known which index answers it. */

import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import { wordsOf } from '../../core/indexes/words.js';
import { wordsIn } from './column-json-pointer.js';
import { throwTableError } from './errors.js';
import type { Bounds } from './types.js';

/** A column with bounds. */
export interface BoundedColumn {
  /** The column of an index that has the bounds. */
  readonly column: string;
  /** The member that the bounds are about. */
  readonly of: string;
  readonly bounds: Bounds<string>;
}

/** The conditions that a row must fulfil. */
export type RowConditions = Pick<Terms, 'equal' | 'bounded' | 'tests'>;

/** Conditions and order of a query. */
export interface Terms {
  /** Columns and the values that they must have; `null` also stands for a member that is absent. */
  readonly equal: ReadonlyMap<string, unknown>;
  /** The one column that has bounds. */
  readonly bounded?: BoundedColumn | undefined;
  /** Whether no row fulfils a condition, because its text has no letter. */
  readonly isNone: boolean;
  /** Whether all rows were asked for by name: only then are rows deleted without a condition. */
  readonly isAll: boolean;
  /** The columns of the order. */
  readonly order: readonly string[];
  readonly reverse: boolean;
  /** The name of the index to take. */
  readonly using?: string | undefined;
  readonly offset: number;
  readonly limit: number;
  /** The row after which to begin. */
  readonly after?: unknown;
  /** Whether to read unwanted rows that no index separates, and to leave them out. */
  readonly filters: boolean;
  /** Conditions of the app's own, on rows. */
  readonly tests: readonly ((row: never) => unknown)[];
}

/** All rows, in the order of their keys. */
export const ALL: Terms = {
  equal: new Map(),
  isNone: false,
  isAll: false,
  order: [],
  reverse: false,
  offset: 0,
  limit: Number.POSITIVE_INFINITY,
  filters: false,
  tests: [],
};

const BOUNDS = ['gt', 'gte', 'lt', 'lte', 'startsWith', 'words'];
const TEXTS = ['startsWith', 'words'] as const;

/** Adds conditions to terms, as `where` takes them. */
export function withConditions(table: string, terms: Terms, conditions: unknown): Terms {
  if (!isPlain(conditions)) {
    throwTableError(table, `where takes conditions in a plain object, not ${kindOf(conditions)}`);
  }
  const equal = new Map(terms.equal);
  let { bounded, isNone } = terms;
  for (const [column, wanted] of Object.entries(conditions)) {
    if (wanted === undefined) refuseUndefined(table, column);
    if (equal.has(column)) throwTableError(table, `where: ${column} has two conditions`);
    if (!isPlain(wanted)) {
      equal.set(column, wanted);
      continue;
    }
    if (bounded !== undefined) {
      const both = `${bounded.of} and ${column}`;
      throwTableError(
        table,
        `where: one column can have bounds, not ${both}: read by one, and filter by the other`,
      );
    }
    const bounds = boundsOf(table, column, wanted);
    isNone ||= bounds.startsWith === '';
    isNone ||= bounds.words !== undefined && wordsOf(bounds.words).length === 0;
    bounded = { column: bounds.words === undefined ? column : wordsIn(column), of: column, bounds };
  }
  if (bounded !== undefined && equal.has(bounded.of)) {
    throwTableError(table, `where: ${bounded.of} has two conditions`);
  }
  return { ...terms, equal, bounded, isNone };
}

/** Refuses a condition that is `undefined`: it is often a forgotten variable, and must not select all rows. */
function refuseUndefined(table: string, condition: string): never {
  throwTableError(table, `where: ${condition} is undefined: leave it out, or give a value`);
}

function boundsOf(table: string, column: string, wanted: object): Bounds<string> {
  const bounds: Record<string, unknown> = { ...wanted };
  for (const [name, value] of Object.entries(bounds)) {
    if (value === undefined) refuseUndefined(table, `${name} of ${column}`);
  }
  const names = Object.keys(bounds);
  const unknown = names.find((name) => !BOUNDS.includes(name));
  if (unknown !== undefined) {
    throwTableError(table, `where: ${column} has no bound ${unknown}, but ${BOUNDS.join(', ')}`);
  }
  if (names.length === 0) throwTableError(table, `where: ${column} is an empty condition`);
  if (('gt' in bounds && 'gte' in bounds) || ('lt' in bounds && 'lte' in bounds)) {
    throwTableError(table, `where: ${column} has one of gt and gte at most, and one of lt and lte`);
  }
  const text = TEXTS.find((name) => name in bounds);
  if (text !== undefined && (names.length > 1 || typeof bounds[text] !== 'string')) {
    throwTableError(table, `where: ${text} of ${column} is a string, and the only bound`);
  }
  return bounds;
}
