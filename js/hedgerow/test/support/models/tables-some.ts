import type { PatchOperation } from '../../../src/index.js';
import type { Random } from '../random.js';
import {
  compareRows,
  type ModelBounds,
  type ModelQuery,
  type ModelTable,
  memberAt,
  type Row,
} from './tables-model.js';

/** The calls of tables without the types of their rows. */
export interface Loose extends AsyncIterable<Row> {
  get(key: unknown): Promise<Row | undefined>;
  getMany(keys: Iterable<unknown>): Promise<(Row | undefined)[]>;
  has(key: unknown): Promise<boolean>;
  rank(key: unknown): Promise<number>;
  all(): LooseQuery;
  put(row: Row): Promise<void>;
  insert(row: Row): Promise<void>;
  update(key: unknown, change: unknown): Promise<Row | undefined>;
  delete(key: unknown): Promise<void>;
  deleteMany(keysOrConditions: unknown): Promise<number>;
  clear(): Promise<number>;
  putMany(source: unknown, options?: object): Promise<{ rows: number }>;
  op: { put(row: Row): PatchOperation; delete(key: unknown): PatchOperation };
}
export interface LooseQuery extends AsyncIterable<Row> {
  where(conditions: object): LooseQuery;
  orderBy(columns: string | readonly string[], direction?: 'asc' | 'desc'): LooseQuery;
  reverse(): LooseQuery;
  limit(count: number): LooseQuery;
  offset(count: number): LooseQuery;
  after(row: Row): LooseQuery;
  using(index: string): LooseQuery;
  scan(): LooseQuery;
  filter(test: (row: Row) => unknown): LooseQuery;
  toArray(): Promise<Row[]>;
  at(n: number): Promise<Row | undefined>;
  count(): Promise<number>;
  first(): Promise<Row | undefined>;
  delete(): Promise<number>;
  watch(callback: (changes: readonly Change[]) => void, options?: object): () => void;
}
export interface Change {
  op: 'insert' | 'update' | 'delete';
  key: unknown;
  oldValue?: Row;
  newValue?: Row;
}

export const tableOf = (handle: object) => (handle as { rows: Loose }).rows;

export const COLUMNS = ['a', 'b', 'c', 'tags', '/n/x', '/n/y~1z~0', 'p'];

export function someTable(from: Random): ModelTable {
  const keys = from.pick([['id'], ['id'], ['n'], ['p', 'n'], ['f', 'p', 'n'], ['p', 'id']]);
  const count = from.below(5);
  const indexes = Array.from({ length: count }, (_, at) => ({
    name: `by${at}`,
    columns: from.shuffle(COLUMNS).slice(0, 1 + from.below(4)),
    nulls: from.next() < 0.75,
  }));
  const values = from.pick(['json', 'structured'] as const);
  const isPlain = keys.length === 1 && keys[0] === 'id';
  return { keys, isPlain, values, indexes };
}

export const DATES = [0, 1, 86_400_000 * 365, 1.7e12, 1.7e12 + 1].map((ms) => new Date(ms));
export const TEXTS = [
  '',
  'a',
  'ab',
  'b',
  '~',
  '~t',
  '~a',
  'é',
  '\u0000',
  '\u0001a',
  '\uffff',
  '😀',
  'A',
];

export function someScalar(from: Random, { values }: ModelTable): unknown {
  switch (from.below(values === 'json' ? 5 : 6)) {
    case 0:
      return from.pick(TEXTS);
    case 1:
      return from.next() < 0.5;
    case 2:
      return from.next() < 0.8 ? from.below(6) - 2 : from.pick([0.5, -1e300, 1e-300]);
    case 3:
      return null;
    case 4:
      return from.next() < 0.7 ? from.pick(['a', 'b']) : from.text(5);
  }
  return from.pick(DATES);
}

export function someMember(from: Random, table: ModelTable): unknown {
  const what = from.next();
  if (what < 0.8) return someScalar(from, table);
  if (what < 0.85) return {};
  // No index takes a text as long as this.
  if (what < 0.88) return from.pick(TEXTS) + 'long'.repeat(500);
  return Array.from({ length: from.below(4) }, () => someScalar(from, table));
}

export function someKeyPart(from: Random, name: string, isPlain: boolean): unknown {
  if (name === 'n') return from.next() < 0.8 ? from.below(5) - 1 : from.pick([0.25, -1.5, 1e21]);
  if (name === 'f') return from.next() < 0.5;
  if (isPlain && from.next() < 0.1) return from.text(6);
  return from.pick(['', 'k', 'k1', '~', 'é', '😀', '\u0000', 'z/', 'k2', 'k3', 'k4', 'k5', 'k6']);
}

export function someRow(from: Random, table: ModelTable, near?: Row): Row {
  const row: Row = {};
  for (const name of table.keys) row[name] = someKeyPart(from, name, table.isPlain);
  if (near !== undefined && from.next() < 0.5)
    for (const name of table.keys) row[name] = near[name];
  for (const name of ['a', 'b', 'c', 'tags', 'other']) {
    if (from.next() < 0.8) row[name] = someMember(from, table);
  }
  if (!table.keys.includes('p') && from.next() < 0.8) row.p = someMember(from, table);
  if (from.next() < 0.6) row.n ??= { x: someMember(from, table), 'y/z~': someMember(from, table) };
  return row;
}

/** Rows by their keys. */
export class Model {
  readonly #table: ModelTable;
  rows: Row[];

  constructor(table: ModelTable, rows: Row[] = []) {
    this.#table = table;
    this.rows = rows;
  }

  copy(): Model {
    return new Model(this.#table, [...this.rows]);
  }

  get(row: Row): Row | undefined {
    return this.rows.find((one) => compareRows(this.#table, one, row) === 0);
  }

  put(row: Row): void {
    this.delete(row);
    this.rows.push(row);
  }

  delete(row: Row): void {
    this.rows = this.rows.filter((one) => compareRows(this.#table, one, row) !== 0);
  }
}

export function someBounds(
  from: Random,
  table: ModelTable,
  column: string,
  rows: readonly Row[],
): ModelBounds {
  const value = () => {
    for (;;) {
      const one = someValue(from, table, column, rows);
      if (one !== null) return one;
    }
  };
  const part = from.next();
  const text = () => from.pick(TEXTS);
  if (part < 0.15) return { startsWith: text() };
  const lower = from.pick(['gt', 'gte']);
  const upper = from.pick(['lt', 'lte']);
  if (part < 0.4) return { [lower]: value() };
  if (part < 0.6) return { [upper]: value() };
  return { [lower]: value(), [upper]: value() };
}

/** Returns a value that a condition compares a column with: usually the value of a row. */
export function someValue(
  from: Random,
  table: ModelTable,
  column: string,
  rows: readonly Row[],
): unknown {
  if (table.keys.includes(column)) {
    const row = from.next() < 0.7 && rows.length > 0 ? from.pick(rows) : undefined;
    return row?.[column] ?? someKeyPart(from, column, table.isPlain);
  }
  if (from.next() < 0.7 && rows.length > 0) {
    const member = memberAt(from.pick(rows), column);
    const one = Array.isArray(member) && member.length > 0 ? from.pick(member) : member;
    const isLong = typeof one === 'string' && one.length > 100;
    if (one instanceof Date || (!isLong && (typeof one !== 'object' || one === null)))
      return one ?? null;
  }
  return someScalar(from, table);
}

export function someQuery(from: Random, table: ModelTable, rows: readonly Row[]): ModelQuery {
  // Usually a query that has a source.
  const lists = [table.keys, ...table.indexes.map(({ columns }) => columns)];
  const columns = from.next() < 0.85 ? from.pick(lists) : from.shuffle(COLUMNS);
  const count = from.below(Math.min(3, columns.length + 1));
  const equal = new Map(
    from
      .shuffle(columns.slice(0, count))
      .map((column) => [column, someValue(from, table, column, rows)]),
  );
  const rest = columns.slice(count);
  const [first] = rest;
  const isBounded = first !== undefined && from.next() < 0.4;
  const start = isBounded || from.next() < 0.9 ? 0 : 1;
  const order = from.next() < 0.5 ? rest.slice(start, start + 1 + from.below(3)) : [];
  const indexes = table.indexes.map(({ name }) => name);
  return {
    equal,
    ...(isBounded && { bounded: { column: first, bounds: someBounds(from, table, first, rows) } }),
    order,
    reverse: from.next() < 0.3,
    ...(indexes.length > 0 && from.next() < 0.2 && { using: from.pick(indexes) }),
    scan: from.next() < 0.4,
    ...(from.next() < 0.15 && { test: (row: Row) => typeof row.a !== 'number' }),
  };
}

/** Makes the same query by the calls of a table. */
export function queryOf(from: Random, start: LooseQuery, query: ModelQuery): LooseQuery {
  const { equal, bounded, order, reverse, using, scan, test } = query;
  let made = start;
  const conditions = [...equal] as [string, unknown][];
  if (bounded !== undefined) conditions.push([bounded.column, bounded.bounds]);
  if (from.next() < 0.5) made = made.where(Object.fromEntries(conditions));
  else
    for (const [column, wanted] of from.shuffle(conditions))
      made = made.where({ [column]: wanted });
  if (order.length > 0) {
    const columns = order.length === 1 ? (order[0] as string) : order;
    made = made.orderBy(columns, reverse ? 'desc' : 'asc');
  } else if (reverse) made = made.reverse();
  if (using !== undefined) made = made.using(using);
  if (scan) made = made.scan();
  return test === undefined ? made : made.filter(test);
}

export const encoder = new TextEncoder();

/** Returns rows as objects, or as bytes that are cut anywhere. */
export function sourceOf(from: Random, table: ModelTable, rows: Row[]): unknown {
  const kinds = table.values === 'json' ? 6 : 3;
  switch (from.below(kinds)) {
    case 0:
      return rows;
    case 1:
      return rows.values();
    case 2:
      return (async function* () {
        for (const row of rows) yield row;
      })();
  }
  const isList = from.next() < 0.5;
  const text = isList
    ? JSON.stringify(rows, undefined, from.below(2))
    : rows.map((row) => JSON.stringify(row)).join('\n');
  const bytes = encoder.encode(text);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + from.below(200);
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  const whole = from.next();
  if (whole < 0.3) return bytes;
  return whole < 0.6 ? new Blob([bytes]) : parts.length > 0 ? parts : bytes;
}
