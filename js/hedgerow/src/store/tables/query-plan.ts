/** Finds the index, or the range of keys, that answers a query. */

import { memberAt, parsePointer } from '../../base/json-pointer.js';
import { LONE_SURROGATE, utf8Length } from '../../base/key.js';
import { MAX_KEY_BYTES } from '../../base/limits.js';
import type { KeyRange } from '../../base/range.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import type { EntryPosition, IndexRange, SecondaryKey } from '../../core/indexes/index-range.js';
import { wordsOf } from '../../core/indexes/words.js';
import { pointerOf } from './column-json-pointer.js';
import { throwTableError } from './errors.js';
import type { RowConditions, Terms } from './query-conditions.js';
import type { Row, Spec, TableIndex } from './spec.js';
import { checkCompared } from './validate-condition-values.js';

/** The plan of a query. */
export interface QueryPlan {
  readonly range: KeyRange | IndexRange;
  /** The row, or entry, right after which the query begins. */
  readonly after: string | EntryPosition | undefined;
  /** Further conditions on rows of the range; `undefined` if all rows are wanted. */
  readonly left: RowConditions | undefined;
  readonly isIndex: boolean;
  /** Whether it waits until rows are brought forward. */
  readonly isOfNewest?: boolean;
  /** Whether a row may come more than once: for each of its words. */
  readonly isRepeated?: boolean;
}

/** Plans a query. Throws `invalid-argument` if no index fits, or a value cannot be compared. */
export function planQuery(spec: Spec, terms: Terms): QueryPlan {
  const isNowhere = hasText(terms, isHalf) || (!terms.filters && hasText(terms, isLong));
  if (!(terms.isNone || isNowhere)) return planOfSome(spec, terms);
  // Throws if no index fits.
  if (!isNowhere) planOfSome(spec, terms);
  // A range without keys.
  const key = `${spec.prefix}0`;
  const range = { gt: key, lt: key };
  return { range, after: undefined, left: undefined, isIndex: false };
}

/** Returns whether rows must have, or begin with, a text for which `isSo` holds. */
function hasText({ equal, bounded }: Terms, isSo: (text: string) => boolean): boolean {
  const all = [...equal.values(), bounded?.bounds.startsWith];
  return all.some((one) => typeof one === 'string' && isSo(one));
}

/** Finds half of an emoji, as `slice` makes it: no row has that. */
const isHalf = (text: string) => LONE_SURROGATE.test(text);
/** Finds a text that is longer than an entry of an index can be. */
const isLong = (text: string) => utf8Length(text) > MAX_KEY_BYTES;

function planOfSome(spec: Spec, terms: Terms): QueryPlan {
  checkCompared(spec, terms);
  const exact = hasText(terms, isLong) ? undefined : accessOf(spec, terms);
  const { filters, tests } = terms;
  if (exact !== undefined) {
    const isRepeated = terms.bounded?.bounds.words !== undefined;
    const bounded = isRepeated ? terms.bounded : undefined;
    const left = isRepeated || tests.length > 0 ? { equal: NONE, bounded, tests } : undefined;
    return { ...exact, left, isRepeated };
  }
  const rest = { ...terms, equal: NONE, bounded: undefined };
  const all = accessOf(spec, rest);
  if (!filters || all === undefined) throwTableError(spec.name, lacking(spec, terms, all));
  return { ...all, left: terms };
}

/** Finds the range of keys, or of the smallest index, that has exactly the wanted rows in their order. */
function accessOf(spec: Spec, terms: Terms): Omit<QueryPlan, 'left'> | undefined {
  const { name, keys, indexes } = spec;
  const { using } = terms;
  if (using === undefined && fits({ columns: keys.columns, nulls: true }, terms)) {
    const after = terms.after === undefined ? undefined : keys.ofRow(terms.after as Row);
    return {
      range: keys.range(bounds(keys.columns, terms, (value) => value)),
      after,
      isIndex: false,
    };
  }
  if (using !== undefined && !indexes.some((one) => one.name === using)) {
    const names = indexes.map((one) => one.name).join(', ') || 'none';
    throwTableError(name, `there is no index ${using}, but ${names}`);
  }
  // An index of words has a row several times: it answers only queries for words.
  const asksForWords = ({ columns, paths }: TableIndex) =>
    paths.every((path, at) => typeof path === 'string' || columns[at] === terms.bounded?.column);
  const fitting = indexes.filter(
    (index) => (using ?? index.name) === index.name && asksForWords(index) && fits(index, terms),
  );
  const [index] = fitting.sort((a, b) => a.columns.length - b.columns.length);
  if (index === undefined) return undefined;
  const range = bounds(index.columns, terms, (value) => spec.kept.column(value));
  const after = terms.after === undefined ? undefined : positionOf(spec, index, terms);
  return {
    range: { index: index.stored, ...range },
    after,
    isIndex: true,
    isOfNewest: !index.isKept,
  };
}

const NONE: ReadonlyMap<string, unknown> = new Map();

/**
 * Returns whether columns begin with the columns of equal values, go on with the bounded one, and have the order of the
 * rest. The query must not want rows that an index without nulls lacks: conditions on all columns show that, or the
 * app, which names the index.
 */
function fits(
  { columns, nulls }: Pick<TableIndex, 'columns' | 'nulls'>,
  { equal, bounded, order, using }: Terms,
): boolean {
  const first = columns.slice(0, equal.size);
  if (first.length < equal.size || !first.every((column) => equal.has(column))) return false;
  const rest = columns.slice(equal.size);
  if (bounded !== undefined && rest[0] !== bounded.column) return false;
  const ordered = order.filter((column) => !equal.has(column));
  if (!ordered.every((column, at) => rest[at] === column)) return false;
  if (nulls) return true;
  const named = using === undefined ? 0 : ordered.length;
  const count = Math.max(named, bounded === undefined ? 0 : 1);
  return count === rest.length && ![...equal.values()].includes(null);
}

type Columns = Omit<IndexRange, 'index'>;

function bounds(
  columns: readonly string[],
  { equal, bounded }: Terms,
  columnOf: (value: unknown) => unknown,
): Columns {
  const range: Record<string, unknown> = {};
  if (equal.size > 0) {
    range.equals = columns.slice(0, equal.size).map((column) => columnOf(equal.get(column)));
  }
  for (const [name, value] of Object.entries(bounded?.bounds ?? {})) {
    if (name === 'startsWith') range.prefix = columnOf(value);
    // The longest word has the fewest rows; these are searched for the other words.
    else if (name === 'words') [range.prefix] = wordsOf(value).sort((a, b) => b.length - a.length);
    else range[name] = [columnOf(value)];
  }
  return range as Columns;
}

/** Returns where the entry of the row `after` is in an index. */
function positionOf(spec: Spec, index: TableIndex, { after, equal }: Terms): EntryPosition {
  const row = after as Row;
  const form = spec.kept.encode(row);
  const scalars = index.columns.map((column, at) => {
    if (typeof index.paths[at] !== 'string') {
      return throwTableError(spec.name, 'after: an index of words has several places for a row');
    }
    const member = memberAt(form, parsePointer(pointerOf(column)) ?? []) ?? null;
    if (!Array.isArray(member)) return member;
    if (member.length < 2 && !equal.has(column)) return member[0] ?? null;
    if (equal.has(column)) return spec.kept.column(equal.get(column));
    return throwTableError(
      spec.name,
      `after: ${column} is ${kindOf(member)}, so that a row has several places`,
    );
  });
  const secondary = scalars.length === 1 ? scalars[0] : scalars;
  return [secondary as SecondaryKey, spec.keys.ofRow(row)];
}

/** Says which index a query lacks; `all` is how all rows can be read in its order. */
function lacking({ name }: Spec, terms: Terms, all: object | undefined): string {
  const { equal, bounded, order, using } = terms;
  const otherwise = all === undefined ? '' : ', or read all rows with scan()';
  if (bounded?.bounds.words !== undefined && order.length > 0) {
    const unless =
      all === undefined
        ? `, or add an index ${formatColumns(order)} and read it with scan()`
        : otherwise;
    return `rows with some words come in no other order: leave out orderBy${unless}`;
  }
  const columns = [...equal.keys(), ...(bounded === undefined ? [] : [bounded.column]), ...order];
  const what = using === undefined ? 'no index has' : `the index ${using} does not have`;
  return `${what} these rows in this order: add an index ${formatColumns(columns)} to ${name}${otherwise}`;
}

const formatColumns = (columns: readonly string[]): string =>
  `[${[...new Set(columns)].map((column) => `'${column}'`).join(', ')}]`;
