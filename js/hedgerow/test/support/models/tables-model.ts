/** A model of a table: a list of rows, which queries filter and sort by their own code. */
import type { Scalar } from '../../../src/core/indexes/scalar.js';
import { comparePositions, entriesOfRows, type IndexedEntry } from './index-model.js';
import { compareKeys } from './store-model.js';

export type Row = Record<string, unknown>;

export interface ModelIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly nulls: boolean;
}

export interface ModelTable {
  readonly keys: readonly string[];
  /** Whether the key is a single string, stored unchanged. */
  readonly isPlain: boolean;
  readonly values: 'json' | 'structured';
  readonly indexes: readonly ModelIndex[];
}

export interface ModelBounds {
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly startsWith?: string;
}

/** The parts of a query. */
export interface ModelQuery {
  readonly equal: ReadonlyMap<string, unknown>;
  readonly bounded?: { readonly column: string; readonly bounds: ModelBounds };
  readonly order: readonly string[];
  readonly reverse: boolean;
  readonly using?: string;
  readonly scan: boolean;
  readonly test?: (row: Row) => boolean;
}

/** Returns a value as a column has it: a date is a text behind `~t`, and a text behind `~` gets one more. */
export function columnOf({ values }: ModelTable, value: unknown): unknown {
  if (values === 'json') return value;
  if (value instanceof Date) return `~t${value.toISOString()}`;
  if (typeof value === 'string' && value.startsWith('~')) return `~${value}`;
  if (Array.isArray(value)) return value.map((one) => columnOf({ values } as ModelTable, one));
  return value;
}

/** Returns a row as indexes see it. */
function formOf(table: ModelTable, row: Row): Row {
  const entries = Object.entries(row).map(([name, member]) => {
    const isNested = typeof member === 'object' && member !== null && !Array.isArray(member);
    const isDate = member instanceof Date;
    return [name, isNested && !isDate ? formOf(table, member as Row) : columnOf(table, member)];
  });
  return Object.fromEntries(entries);
}

export const pointerOf = (column: string) => (column.startsWith('/') ? column : `/${column}`);

export function memberAt(row: Row, column: string): unknown {
  let at: unknown = row;
  for (const part of pointerOf(column).split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name))
      return undefined;
    at = (at as Row)[name];
  }
  return at;
}

/** Returns the key of a row as calls take it. */
export function keyOf({ keys }: ModelTable, row: Row): unknown {
  const parts = keys.map((name) => row[name]);
  return keys.length === 1 ? parts[0] : parts;
}

const KINDS = ['null', 'boolean', 'number', 'string'];
const kindOf = (value: unknown) => (value === null ? 'null' : typeof value);

/** Compares values: null, booleans, numbers, texts by their bytes. */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareKeys(a, b);
  if (kindOf(a) === kindOf(b)) return Number(a) - Number(b);
  return KINDS.indexOf(kindOf(a)) - KINDS.indexOf(kindOf(b));
}

export function compareRows(table: ModelTable, a: Row, b: Row): number {
  for (const name of table.keys) {
    const order = compareValues(a[name], b[name]);
    if (order !== 0) return order;
  }
  return 0;
}

const isScalar = (value: unknown) =>
  value === null ||
  typeof value === 'boolean' ||
  typeof value === 'number' ||
  (typeof value === 'string' && !/\p{Surrogate}/u.test(value));

function isWithin(value: unknown, { gt, gte, lt, lte, startsWith }: ModelBounds): boolean {
  if (startsWith === '') return false;
  if (startsWith !== undefined) return typeof value === 'string' && value.startsWith(startsWith);
  const given = [gt, gte, lt, lte].filter((bound) => bound !== undefined);
  if (given.length === 1 && kindOf(value) !== kindOf(given[0])) return false;
  return (
    (gt === undefined || compareValues(value, gt) > 0) &&
    (gte === undefined || compareValues(value, gte) >= 0) &&
    (lt === undefined || compareValues(value, lt) < 0) &&
    (lte === undefined || compareValues(value, lte) <= 0)
  );
}

/** Returns a condition with values as columns have them. */
function columnBounds(table: ModelTable, bounds: ModelBounds, isKey = false): ModelBounds {
  return Object.fromEntries(
    Object.entries(bounds).map(([name, value]) => [name, isKey ? value : columnOf(table, value)]),
  );
}

/** Returns whether a row fulfils all conditions of a query. */
export function fulfils(table: ModelTable, query: ModelQuery, row: Row): boolean {
  const form = formOf(table, row);
  const some = (column: string, is: (value: unknown) => boolean) => {
    // Keys keep their own form here.
    const member = memberAt(table.keys.includes(column) ? row : form, column) ?? null;
    const all =
      Array.isArray(member) && member.length > 0 ? member : [Array.isArray(member) ? null : member];
    return all.some((one) => isScalar(one) && is(one));
  };
  const { equal, bounded } = query;
  for (const [column, value] of equal) {
    const wanted = table.keys.includes(column) ? value : columnOf(table, value);
    if (!some(column, (one) => compareValues(one, wanted) === 0)) return false;
  }
  if (bounded === undefined) return true;
  const bounds = columnBounds(table, bounded.bounds, table.keys.includes(bounded.column));
  return some(bounded.column, (value) => isWithin(value, bounds));
}

/** Returns whether columns have exactly the wanted ones in the wanted order. */
function answers(columns: readonly string[], { equal, bounded, order }: ModelQuery): boolean {
  const front = new Set(columns.slice(0, equal.size));
  if ([...equal.keys()].some((column) => !front.has(column))) return false;
  const rest = columns.slice(equal.size);
  const ordered = order.filter((column) => !equal.has(column));
  if (bounded !== undefined && bounded.column !== rest[0]) return false;
  return ordered.every((column, at) => column === rest[at]);
}

/** Returns whether an index without nulls lists all wanted rows. */
function hasAll(index: ModelIndex, { equal, bounded, order, using }: ModelQuery): boolean {
  if (index.nulls) return true;
  if ([...equal.values()].includes(null)) return false;
  const named = new Set([
    ...equal.keys(),
    ...(bounded ? [bounded.column] : []),
    ...(using ? order : []),
  ]);
  return index.columns.every((column) => named.has(column));
}

/** Returns the source of a query: the keys of rows, or an index; `undefined` if the query has no source. */
export function accessOf(table: ModelTable, query: ModelQuery): 'keys' | ModelIndex | undefined {
  if (query.using === undefined && answers(table.keys, query)) return 'keys';
  const fitting = table.indexes.filter(
    (index) =>
      (query.using ?? index.name) === index.name &&
      answers(index.columns, query) &&
      hasAll(index, query),
  );
  const least = Math.min(...fitting.map(({ columns }) => columns.length));
  return fitting.find(({ columns }) => columns.length === least);
}

/** Returns the query of a scan: it has no conditions on columns. */
export function withoutConditions({ bounded: _, ...query }: ModelQuery): ModelQuery {
  return { ...query, equal: new Map() };
}

/** A row in the order of a query, with the values that `after` compares. */
export interface Placed {
  readonly row: Row;
  readonly entry: IndexedEntry | undefined;
}

/** Returns entries of an index; their keys are the numbers of rows in the order of keys. */
function entries(
  table: ModelTable,
  { columns, nulls }: ModelIndex,
  sorted: readonly Row[],
): IndexedEntry[] {
  const list = sorted.map((row, at) => [String(at).padStart(9, '0'), formOf(table, row)] as const);
  const isLong = (one: unknown) => typeof one === 'string' && one.length > 1000;
  const made = entriesOfRows(
    { path: columns.map(pointerOf), nulls },
    list as unknown as [string, unknown][],
  );
  // The position of an entry is a key.
  return made.filter(([, , secondary]) => ![secondary].flat().some(isLong));
}

/**
 * Returns the rows of a query in their order; through an index, a row with an array may come several times. `undefined`
 * if the query is refused.
 */
export function selected(
  table: ModelTable,
  query: ModelQuery,
  rows: readonly Row[],
): Placed[] | undefined {
  const sorted = [...rows].sort((a, b) => compareRows(table, a, b));
  let access = accessOf(table, query);
  const isExact = access !== undefined;
  if (access === undefined && query.scan) {
    access = accessOf(table, withoutConditions(query));
  }
  if (access === undefined) return undefined;
  let found: Placed[];
  if (access === 'keys') found = sorted.map((row) => ({ row, entry: undefined }));
  else {
    const { columns } = access;
    const { equal, bounded } = query;
    found = entries(table, access, sorted)
      .filter(([, , secondary]) => {
        if (!isExact) return true;
        const scalars = (Array.isArray(secondary) ? secondary : [secondary]) as Scalar[];
        return columns.every((column, at) => {
          const value = scalars[at];
          if (equal.has(column) && compareValues(value, columnOf(table, equal.get(column))) !== 0)
            return false;
          if (bounded?.column !== column) return true;
          return isWithin(value, columnBounds(table, bounded.bounds));
        });
      })
      .map((entry) => ({ row: sorted[Number(entry[0])] as Row, entry }));
  }
  if (access === 'keys' || !isExact) found = found.filter(({ row }) => fulfils(table, query, row));
  if (query.test !== undefined) found = found.filter(({ row }) => query.test?.(row));
  return query.reverse ? found.reverse() : found;
}

/** Returns whether two places are in the order of an index. */
export const isBefore = (a: IndexedEntry, b: IndexedEntry) =>
  comparePositions([a[2], a[0]], [b[2], b[0]]) < 0;
