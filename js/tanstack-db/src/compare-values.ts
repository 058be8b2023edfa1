/** Compares values in the order of TanStack DB. */

import type { IR } from '@tanstack/db';

/** Options for comparing the values of an order. */
export type SortOptions = IR.OrderByClause['compareOptions'];

const isUnordered = (value: unknown) =>
  value instanceof Date ? Number.isNaN(value.getTime()) : Number.isNaN(value);

/** Compares two values as TanStack DB sorts them. */
export function compareValues(a: unknown, b: unknown, how: SortOptions): number {
  const nulls = how.nulls === 'first' ? -1 : 1;
  if (a == null || b == null) return a == null ? (b == null ? 0 : nulls) : -nulls;
  const order = ascending(a, b, how);
  return how.direction === 'desc' ? -order : order;
}

function ascending(a: unknown, b: unknown, how: SortOptions): number {
  // NaN and invalid dates come after all others, in descending order before them.
  const unordered = Number(isUnordered(a)) - Number(isUnordered(b));
  if (unordered !== 0 || isUnordered(a)) return unordered;
  if (typeof a === 'string' && typeof b === 'string') {
    const { stringSort, compare: own, locale, localeOptions } = how as Collation;
    if (stringSort === 'custom' && own) return own(a, b);
    if (stringSort === 'locale') return a.localeCompare(b, locale, localeOptions);
  }
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

interface Collation {
  readonly stringSort?: 'lexical' | 'locale' | 'custom';
  readonly compare?: (a: string, b: string) => number;
  readonly locale?: string;
  readonly localeOptions?: Intl.CollatorOptions;
}

/**
 * Whether the rows of an index come in this order up to `last`. An index orders texts by their bytes, which is the
 * order of code points; JavaScript orders them by units of UTF-16, where U+E000 to U+FFFF come after all higher code
 * points.
 */
export function isInOrderOfIndex(last: unknown, how: SortOptions): boolean {
  if (typeof last !== 'string') return true;
  if ((how as Collation).stringSort !== 'lexical') return false;
  return !(how.direction === 'desc' ? /[\ud800-\udfff]/ : /[\ue000-\uffff]/).test(last);
}

/** Whether texts on one side of a bound are the same for an index and for JavaScript. */
export const isPlainBound = (value: unknown) =>
  typeof value !== 'string' || !/[\ud800-\uffff]/.test(value);
