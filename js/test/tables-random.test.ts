/** Random tables, rows, edits and queries, against a plain list of rows. */
import { expect, it } from 'vitest';
import { memory, open, type PatchOperation, type Store } from '../src/index.js';
import { type StandardSchema, table } from '../src/tables/index.js';
import { SOON } from './model.js';
import { type BeginStep, forSeeds, isOneSeed, seedCount } from './property.js';
import type { Random } from './random.js';
import {
  accessOf,
  columnOf,
  compareRows,
  compareValues,
  fulfils,
  isBefore,
  keyOf,
  type ModelBounds,
  type ModelQuery,
  type ModelTable,
  memberAt,
  type Placed,
  type Row,
  selected,
  withoutConditions,
} from './tables-model.js';

const SEEDS = seedCount(40);
const STEPS = 14;

/** The calls of tables without the types of their rows. */
interface Loose extends AsyncIterable<Row> {
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
  op: { put(row: Row): PatchOperation; del(key: unknown): PatchOperation };
}
interface LooseQuery extends AsyncIterable<Row> {
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
interface Change {
  op: 'add' | 'change' | 'del';
  key: unknown;
  oldValue?: Row;
  newValue?: Row;
}

const tableOf = (handle: object) => (handle as { rows: Loose }).rows;

const COLUMNS = ['a', 'b', 'c', 'tags', '/n/x', '/n/y~1z~0', 'p'];

function someTable(from: Random): ModelTable {
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

const DATES = [0, 1, 86_400_000 * 365, 1.7e12, 1.7e12 + 1].map((ms) => new Date(ms));
const TEXTS = ['', 'a', 'ab', 'b', '~', '~t', '~a', 'é', '\u0000', '\u0001a', '\uffff', '😀', 'A'];

function someScalar(from: Random, { values }: ModelTable): unknown {
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

function someMember(from: Random, table: ModelTable): unknown {
  const what = from.next();
  if (what < 0.8) return someScalar(from, table);
  if (what < 0.85) return {};
  // No index has a text as long as this.
  if (what < 0.88) return from.pick(TEXTS) + 'long'.repeat(500);
  return Array.from({ length: from.below(4) }, () => someScalar(from, table));
}

function someKeyPart(from: Random, name: string, isPlain: boolean): unknown {
  if (name === 'n') return from.next() < 0.8 ? from.below(5) - 1 : from.pick([0.25, -1.5, 1e21]);
  if (name === 'f') return from.next() < 0.5;
  if (isPlain && from.next() < 0.1) return from.text(6);
  return from.pick(['', 'k', 'k1', '~', 'é', '😀', '\u0000', 'z/', 'k2', 'k3', 'k4', 'k5', 'k6']);
}

function someRow(from: Random, table: ModelTable, near?: Row): Row {
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
class Model {
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

function someBounds(
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

/** A value that a condition compares a column with: mostly one that a row has. */
function someValue(from: Random, table: ModelTable, column: string, rows: readonly Row[]): unknown {
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

function someQuery(from: Random, table: ModelTable, rows: readonly Row[]): ModelQuery {
  // Mostly one that something answers.
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

/** The same query, by the calls of a table. */
function queryOf(from: Random, start: LooseQuery, query: ModelQuery): LooseQuery {
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

const tally = {
  queries: 0,
  refused: 0,
  rows: 0,
  exact: 0,
  scans: 0,
  after: 0,
  deletes: 0,
  writes: 0,
  watches: 0,
};

async function iterated(query: AsyncIterable<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of query) rows.push(row);
  return rows;
}

/** Whether a row is at one place of what a query reads, so that it can begin after it. */
function isSingle(table: ModelTable, query: ModelQuery, { row, entry }: Placed): boolean {
  if (entry === undefined) return true;
  const access = accessOf(table, query) ?? accessOf(table, withoutConditions(query));
  const columns = access === 'keys' ? [] : (access?.columns ?? []);
  const isExact = accessOf(table, query) !== undefined;
  return columns.every((column) => {
    if (isExact && query.equal.has(column)) return true;
    const member = memberAt(row, column);
    return !Array.isArray(member) || member.length < 2;
  });
}

async function checkQuery(
  from: Random,
  table: ModelTable,
  place: Loose,
  model: Model,
  begin: BeginStep,
) {
  const query = someQuery(from, table, model.rows);
  begin({ ...query, equal: [...query.equal], table });
  const made = queryOf(from, place.all(), query);
  const found = selected(table, query, model.rows);
  tally.queries += 1;
  if (found === undefined) {
    tally.refused += 1;
    await expect(made.toArray()).rejects.toMatchObject({ code: 'invalid-argument', table: 'rows' });
    await expect(made.count()).rejects.toMatchObject({ code: 'invalid-argument', table: 'rows' });
    return;
  }
  const expected = found.map(({ row }) => row);
  tally.rows += expected.length;
  if (accessOf(table, query) === undefined) tally.scans += 1;
  else tally.exact += 1;
  expect(await made.toArray()).toEqual(expected);
  expect(await made.count()).toBe(expected.length);
  const [offset, limit] = [from.below(4), from.below(5)];
  const part = made.offset(offset).limit(limit);
  const window = expected.slice(offset, offset + limit);
  expect(await part.toArray()).toEqual(window);
  expect(await part.count()).toBe(window.length);
  expect(await iterated(from.next() < 0.5 ? part : made)).toEqual(
    expect.toSatisfy((rows: Row[]) => [window.length, expected.length].includes(rows.length)),
  );
  const n = from.below(expected.length + 2);
  expect(await made.at(n)).toEqual(expected[n]);
  expect(await part.at(n)).toEqual(window[n]);
  expect(await made.first()).toEqual(expected[0]);
  if (expected.length === 0) return;
  const at = from.below(expected.length);
  const placed = found[at] as Placed;
  if (!isSingle(table, query, placed)) return;
  tally.after += 1;
  const rest = found.filter(({ entry }, index) => {
    if (entry === undefined || placed.entry === undefined) return index > at;
    return query.reverse ? isBefore(entry, placed.entry) : isBefore(placed.entry, entry);
  });
  const later = rest.map(({ row }) => row);
  expect(await made.after(placed.row).toArray()).toEqual(later);
  expect(await made.after(placed.row).limit(2).toArray()).toEqual(later.slice(0, 2));
  expect(await made.after(placed.row).count()).toBe(later.length);
}

async function checkAll(
  table: ModelTable,
  place: Loose,
  model: Model,
  from: Random,
): Promise<void> {
  const sorted = [...model.rows].sort((a, b) => compareRows(table, a, b));
  expect(await place.all().toArray()).toEqual(sorted);
  expect(await iterated(place)).toEqual(sorted);
  expect(await place.all().count()).toBe(sorted.length);
  const probes = Array.from({ length: 4 }, () => someRow(from, table, sorted[0]));
  const found = probes.map((row) => model.get(row));
  const keys = probes.map((row) => keyOf(table, row));
  expect(await place.getMany(from.next() < 0.5 ? keys : keys.values())).toEqual(found);
  const [probe] = probes as [Row];
  expect(await place.get(keyOf(table, probe))).toEqual(found[0]);
  expect(await place.has(keyOf(table, probe))).toBe(found[0] !== undefined);
  const before = sorted.filter((row) => compareRows(table, row, probe) < 0);
  expect(await place.rank(keyOf(table, probe))).toBe(before.length);
}

const encoder = new TextEncoder();

/** Rows as bytes that are cut anywhere, or as objects. */
function sourceOf(from: Random, table: ModelTable, rows: Row[]): unknown {
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

/** Changes a table and its model alike. `isWhole`: not in a transaction. */
async function edit(
  from: Random,
  table: ModelTable,
  place: Loose,
  model: Model,
  db: Store | undefined,
): Promise<void> {
  const row = someRow(from, table, model.rows[0]);
  const key = keyOf(table, row);
  const present = model.get(row);
  tally.writes += 1;
  switch (from.below(db === undefined ? 7 : 11)) {
    case 0:
    case 1:
      await place.put(row);
      model.put(row);
      return;
    case 2:
      if (present !== undefined) {
        await expect(place.insert(row)).rejects.toMatchObject({ code: 'exists', table: 'rows' });
        return;
      }
      await place.insert(row);
      model.put(row);
      return;
    case 3: {
      const change = { a: someMember(from, table), b: undefined, c: someMember(from, table) };
      const made: Row = { ...present, ...change };
      delete made.b;
      const replace = (one: Row) => {
        expect(one).toEqual(present);
        return made;
      };
      const how = from.next() < 0.5 ? replace : change;
      const expected = present && made;
      expect(await place.update(key, how)).toEqual(expected);
      if (expected !== undefined) model.put(expected);
      return;
    }
    case 4:
      await place.delete(key);
      model.delete(row);
      return;
    case 5: {
      const rows = Array.from({ length: from.below(4) }, () => someRow(from, table, model.rows[0]));
      const keys = rows.map((one) => keyOf(table, one));
      await place.deleteMany(from.next() < 0.5 ? keys : new Set(keys));
      for (const one of rows) model.delete(one);
      return;
    }
    case 6: {
      const query = someQuery(from, table, model.rows);
      const found = selected(table, query, model.rows);
      if (found === undefined) return;
      tally.deletes += 1;
      const isPart = from.next() < 0.4;
      let made = queryOf(from, place.all(), query);
      if (isPart) made = made.offset(1).limit(2);
      const gone = (isPart ? found.slice(1, 3) : found).map((one) => one.row);
      expect(await made.delete()).toBe(new Set(gone).size);
      for (const one of gone) model.delete(one);
      return;
    }
    case 7:
    case 8: {
      const rows = Array.from({ length: from.below(12) }, () =>
        someRow(from, table, model.rows[0]),
      );
      const { rows: count } = await place.putMany(sourceOf(from, table, rows));
      expect(count).toBe(rows.length);
      for (const one of rows) model.put(one);
      return;
    }
    case 9: {
      const other = someRow(from, table, model.rows[1]);
      const patch = [place.op.put(row), place.op.del(keyOf(table, other))];
      await db?.applyPatch(patch);
      model.put(row);
      model.delete(other);
      return;
    }
    case 10:
      if (from.next() < 0.7) return;
      expect(await place.clear()).toBe(model.rows.length);
      model.rows = [];
  }
}

/** Gives rows back as they are, so that those of bytes are read by JavaScript. */
const asIs: StandardSchema<Row> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Row }) },
};

function definitionOf(from: Random, { keys, values, indexes, isPlain }: ModelTable) {
  const definition = {
    key: isPlain ? keys[0] : keys,
    values,
    indexes: Object.fromEntries(
      indexes.map(({ name, columns, nulls }) => [
        name,
        nulls && from.next() < 0.5 ? columns : { columns, nulls },
      ]),
    ),
    ...(from.next() < 0.3 && { schema: asIs }),
  };
  return (table as unknown as (definition: object) => never)(definition);
}

async function history(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const modelTable = someTable(from);
  // What is beside the table is not seen by it.
  const others = table<{ id: string }>()({ key: 'id', indexes: { all: ['id'] } });
  const rows = definitionOf(from, modelTable);
  const db = (await open(`t${seed}`, { storage: memory(), tables: { rows, others } })) as Store;
  const place = tableOf(db);
  const model = new Model(modelTable);
  await (db as unknown as { others: Loose }).others.put({ id: 'k' });
  await db.put('rows', { id: 'no row of a table' });
  await db.put('rows0', { id: 'no row of a table' });
  const check = async (on: Loose, of: Model) => {
    await checkAll(modelTable, on, of, from);
    for (let count = 3; count > 0; count--) await checkQuery(from, modelTable, on, of, begin);
  };
  for (let step = 0; step < STEPS; step++) {
    begin({ step, modelTable });
    switch (from.below(6)) {
      case 0: {
        // In a transaction, whose edits its own reads see; half of them are given up.
        const inner = model.copy();
        const isKept = from.next() < 0.6;
        const run = db.transaction(async (tx) => {
          inner.rows = [...model.rows];
          const own = tableOf(tx);
          for (let count = from.below(5); count > 0; count--)
            await edit(from, modelTable, own, inner, undefined);
          await check(own, inner);
          if (!isKept) throw new Error('given up');
        });
        if (isKept) await run;
        else await expect(run).rejects.toThrow('given up');
        if (isKept) model.rows = inner.rows;
        break;
      }
      case 1: {
        const draft = await db.branch('draft');
        const own = tableOf(draft);
        const inner = model.copy();
        for (let count = from.below(4); count > 0; count--)
          await edit(from, modelTable, own, inner, draft);
        await check(own, inner);
        await checkAll(modelTable, place, model, from);
        await db.merge('draft');
        model.rows = inner.rows;
        await draft.close();
        await db.deleteBranch('draft');
        break;
      }
      case 2: {
        using snapshot = db.snapshot();
        const before = model.copy();
        await edit(from, modelTable, place, model, db);
        await check(tableOf(snapshot), before);
        break;
      }
      default:
        await edit(from, modelTable, place, model, db);
    }
    await check(place, model);
  }
  expect(await db.get('rows0')).toEqual({ id: 'no row of a table' });
  expect(await (db as unknown as { others: Loose }).others.all().count()).toBe(1);
  await db.close();
}

it(
  `${SEEDS} random tables give what a list of rows gives`,
  () =>
    forSeeds(SEEDS, history).then(() => {
      if (isOneSeed) return;
      for (const [what, count] of Object.entries(tally)) {
        if (what !== 'watches') expect(count, what).toBeGreaterThan(SEEDS / 2);
      }
    }),
  240_000,
);

it(
  'a watch of a random query is told what makes its rows',
  () =>
    forSeeds(seedCount(60), async (from, seed, begin) => {
      const modelTable = someTable(from);
      const rows = definitionOf(from, modelTable);
      const db = (await open(`w${seed}`, { storage: memory(), tables: { rows } })) as Store;
      const place = tableOf(db);
      const model = new Model(modelTable);
      for (let count = 5; count > 0; count--) await edit(from, modelTable, place, model, db);
      const query = someQuery(from, modelTable, model.rows);
      begin({ ...query, equal: [...query.equal], modelTable });
      if (selected(modelTable, query, model.rows) !== undefined) {
        tally.watches += 1;
        const told = new Map<string, Row>();
        let calls = 0;
        const stop = queryOf(from, place.all(), query).watch(
          (changes) => {
            calls += 1;
            for (const change of changes) {
              const name = JSON.stringify(change.key);
              expect([name, change.op, told.get(name)]).toEqual([
                name,
                told.has(name) ? (change.newValue ? 'change' : 'del') : 'add',
                change.oldValue,
              ]);
              if (change.newValue === undefined) told.delete(name);
              else told.set(name, change.newValue);
            }
          },
          { initial: true },
        );
        const wanted = () => {
          const found = new Set(selected(modelTable, query, model.rows)?.map(({ row }) => row));
          return new Map([...found].map((row) => [JSON.stringify(keyOf(modelTable, row)), row]));
        };
        await expect.poll(() => calls, SOON).toBeGreaterThan(0);
        for (let step = 0; step < 12; step++) {
          await expect.poll(() => told, SOON).toEqual(wanted());
          await edit(from, modelTable, place, model, db);
        }
        await expect.poll(() => told, SOON).toEqual(wanted());
        stop();
      }
      await db.close();
    }),
  240_000,
);

it('the model itself tells values apart', () => {
  const table: ModelTable = { keys: ['id'], isPlain: true, values: 'structured', indexes: [] };
  expect(columnOf(table, new Date(0))).toBe('~t1970-01-01T00:00:00.000Z');
  expect(compareValues(null, false)).toBeLessThan(0);
  expect(compareValues('\uffff', '😀')).toBeLessThan(0);
  const query = { equal: new Map([['tags', null]]), order: [], reverse: false, scan: true };
  expect(fulfils(table, query, { id: '', tags: [] })).toBe(true);
  expect(fulfils(table, query, { id: '', tags: ['a', null] })).toBe(true);
  expect(fulfils(table, query, { id: '', tags: {} })).toBe(false);
});
