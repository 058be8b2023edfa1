/** Calls of one handle take effect in their order, awaited or not. All pairs run, with and without awaits. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { closeAll, opened } from '../../support/doubles/worker-wire.js';
import { kindOf } from '../../support/error-kind.js';
import { forSampled } from '../../support/property.js';

interface Item {
  id: string;
  n: number;
  m?: number;
  words?: string;
}
const items = table({
  schema: rowType<Item>(),
  key: 'id',
  indexes: { byN: ['n'], words: [{ words: 'words' }] },
});
const structured = table({
  schema: rowType<Item>(),
  key: 'id',
  indexes: { byN: ['n'] },
  values: 'structured',
});
const tables = { items, structured };
const indexes = { byN: { prefix: 'x/', path: ['/n'] } };

afterEach(closeAll);

const row = (id: string, n: number): Item => ({ id, n, words: `row ${id}` });
const ROWS = ['a', 'b', 'c', 'd'].map((id, at) => row(id, at));

let names = 0;
async function store(isCold: boolean) {
  const storage = memory();
  const how = { storage, tables, indexes };
  const name = `order ${names++}`;
  const first = await open(name, how);
  await first.putMany(ROWS.map((one) => [`x/${one.id}`, one] as const));
  await first.items.putMany(ROWS);
  await first.structured.putMany(ROWS);
  if (isCold) {
    await first.close();
    const db = await open(name, { ...how, advanced: { cacheBytes: 0 } });
    opened.push(() => db.close());
    return db;
  }
  for await (const _ of first.scan()) {
  }
  opened.push(() => first.close());
  return first;
}
type Db = Awaited<ReturnType<typeof store>>;
type Call = (db: Db) => Promise<unknown>;

/** Returns rows that many calls work on: long enough for slices. */
const many = (n: number): [string, Item][] =>
  Array.from({ length: 300 }, (_, at) => [`x/${at === 0 ? 'a' : `m${at}`}`, row(`${at}`, n)]);

/** Writes of a store that wait for no code of the app. */
const WRITES: Record<string, Call> = {
  put: (db) => db.put('x/a', row('a', 10)),
  'put another': (db) => db.put('x/e', row('e', 11)),
  delete: (db) => db.delete('x/a'),
  putMany: (db) => db.putMany(many(20)),
  'deleteMany of keys': (db) => db.deleteMany(['x/a', 'x/e']),
  'deleteMany of a range': (db) => db.deleteMany({ prefix: 'x/', lt: 'x/c' }),
  'deleteMany of an index': (db) => db.deleteMany({ index: 'byN', gte: 10 }),
  clear: (db) => db.clear(),
  applyPatch: (db) =>
    db.applyPatch([
      { op: 'put', key: 'x/b', value: row('b', 30) },
      { op: 'update', key: 'x/a', merge: { m: 30 } },
      { op: 'delete', key: 'x/c' },
    ]),
  insert: (db) => db.insert('x/a', row('a', 40)),
  'insert another': (db) => db.insert('x/e', row('e', 41)),
  update: (db) => db.update('x/a', { m: 50 }),
  'update another': (db) => db.update('x/e', { m: 51 }),
};

const tableWrites = (name: 'items' | 'structured'): Record<string, Call> => ({
  put: (db) => db[name].put(row('a', 10)),
  'put another': (db) => db[name].put(row('e', 11)),
  delete: (db) => db[name].delete('a'),
  putMany: (db) => db[name].putMany(many(20).map(([key, one]) => ({ ...one, id: key.slice(2) }))),
  'deleteMany of keys': (db) => db[name].deleteMany(['a', 'e']),
  'deleteMany of conditions': (db) => db[name].deleteMany({ n: { gte: 10 } }),
  'a deletion of a range of keys': (db) => db[name].where({ id: { lt: 'c' } }).delete(),
  'a deletion of a window': (db) => db[name].orderBy('n', 'desc').limit(2).delete(),
  'a deletion of what is filtered': (db) =>
    db[name]
      .all()
      .filter(({ n }) => n >= 10)
      .delete(),
  clear: (db) => db[name].clear(),
  insert: (db) => db[name].insert(row('a', 40)),
  'insert another': (db) => db[name].insert(row('e', 41)),
  update: (db) => db[name].update('a', { m: 50 }),
  'update another': (db) => db[name].update('e', { m: 51 }),
});

/** Calls that follow the writes: functions of the app and reads, too. */
const LATER: Record<string, Call> = {
  'update by a function': (db) =>
    db.update<Item>('x/a', async (one) => ({ ...(one ?? row('a', 0)), m: 60 })),
  transaction: (db) =>
    db.transaction(async (tx) => {
      const one = await tx.get<Item>('x/a');
      tx.put('x/seen', { n: one?.n ?? -1, m: one?.m ?? -1, count: await tx.count() });
    }),
  commit: async (db) =>
    (
      await db.history.commit(async (tx) => {
        tx.put('x/seen', await tx.scan({ prefix: 'x/' }).keys().toArray());
        return tx.count();
      })
    ).value,
};
const TABLE_LATER: Record<string, Call> = {
  'update by a function': (db) => db.items.update('a', async (one) => ({ ...one, m: 60 })),
  transaction: (db) =>
    db.transaction(async (tx) => {
      const all = await tx.items.orderBy('n').toArray();
      await tx.items.insert(row('seen', all.length));
      return all;
    }),
};
const READS: Record<string, Call> = {
  get: (db) => db.get('x/a'),
  has: (db) => db.has('x/a'),
  getMany: (db) => db.getMany(['x/a', 'x/b', 'x/e']),
  count: (db) => db.count({ prefix: 'x/' }),
  at: (db) => db.at(1, { prefix: 'x/' }),
  rank: (db) => db.rank('x/b', { prefix: 'x/' }),
  scan: (db) => db.scan({ prefix: 'x/' }).toArray(),
  'a scan of an index': (db) => db.scan({ index: 'byN', gte: 1 }).toArray(),
};
const TABLE_READS: Record<string, Call> = {
  get: (db) => db.items.get('a'),
  getMany: (db) => db.items.getMany(['a', 'e']),
  toArray: (db) => db.items.orderBy('n').toArray(),
  count: (db) => db.items.where({ n: { gte: 1 } }).count(),
};

/** Returns the result of a call: the number of rows of a bulk change, the code of an error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    const value = await call;
    const { root, rows } = Object(value) as { root?: string; rows?: number };
    return root === undefined ? value : { rows };
  } catch (cause) {
    return kindOf(cause);
  }
}

async function all(db: Db) {
  return Object.fromEntries(await db.scan().toArray());
}

async function checkPair(isCold: boolean, [a, first]: [string, Call], [b, second]: [string, Call]) {
  const [expected, actual] = [await store(isCold), await store(isCold)];
  const results = [await outcome(first(expected)), await outcome(second(expected))];
  const calls = [outcome(first(actual)), outcome(second(actual))];
  expect(await Promise.all(calls), `${a}, ${b}`).toEqual(results);
  expect(await all(actual), `${a}, ${b}`).toEqual(await all(expected));
  await Promise.all([expected.close(), actual.close()]);
}

async function checkPairs(
  isCold: boolean,
  firsts: Record<string, Call>,
  ...seconds: Record<string, Call>[]
): Promise<number> {
  const pairs = Object.entries(firsts).flatMap((first) =>
    seconds.flatMap(Object.entries<Call>).map((second) => [first, second] as const),
  );
  await forSampled(pairs, ([first, second]) => checkPair(isCold, first, second), 4);
  return pairs.length;
}

describe.each([
  ['warm', false],
  ['cold', true],
])('in a %s store', (_, isCold) => {
  it('all pairs of writes of a store', async () => {
    expect(await checkPairs(isCold, WRITES, WRITES, LATER)).toBe(13 * 16);
  });

  it.each(['items', 'structured'] as const)('all pairs of writes of a table: %s', async (name) => {
    const writes = tableWrites(name);
    const later = name === 'items' ? TABLE_LATER : {};
    await checkPairs(isCold, writes, writes, later);
  });

  it('a write of a table and one of the store, in both orders', async () => {
    const plain: Record<string, Call> = {
      put: (db) => db.put('items/a', row('a', 70)),
      clear: (db) => db.clear(),
      'deleteMany of a range': (db) => db.deleteMany({ prefix: 'items/' }),
      update: (db) => db.update('items/a', { m: 71 }),
      transaction: (db) => db.transaction((tx) => tx.put('items/e', row('e', 72))),
    };
    const { transaction: _, ...first } = plain;
    await checkPairs(isCold, first, tableWrites('items'));
    await checkPairs(isCold, tableWrites('items'), plain);
  });

  it('reads see the puts and deletes before them', async () => {
    const { put, delete: remove, 'put another': another } = WRITES as Record<string, Call>;
    const edits = { put, delete: remove, another } as Record<string, Call>;
    await checkPairs(isCold, edits, READS);
    const writes = tableWrites('items');
    const { put: putRow, delete: removeRow } = writes as Record<string, Call>;
    await checkPairs(isCold, { putRow, removeRow } as Record<string, Call>, TABLE_READS);
  });

  it('triples of edits of one row', async () => {
    const kinds = ['put', 'delete', 'update', 'insert', 'clear', 'putMany'] as const;
    const triples = kinds.flatMap((a) => kinds.flatMap((b) => kinds.map((c) => [a, b, c])));
    await forSampled(triples, async (triple) => {
      const calls = triple.map((kind) => WRITES[kind] as Call);
      const [expected, actual] = [await store(isCold), await store(isCold)];
      const results: unknown[] = [];
      for (const call of calls) results.push(await outcome(call(expected)));
      const made = calls.map((call) => outcome(call(actual)));
      expect(await Promise.all(made), `${triple}`).toEqual(results);
      expect(await all(actual), `${triple}`).toEqual(await all(expected));
      await Promise.all([expected.close(), actual.close()]);
    });
  });
});
