/** Reads of a handle see its earlier puts and deletes, awaited or not. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  type Entry,
  expectSame,
  failure,
  select,
  sorted,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const INDEXES = { n: { path: '/n' } };

async function opened() {
  const storage = watched(memory());
  const db = await open('test', { storage, indexes: INDEXES });
  await db.putMany([
    ['a', { n: 1 }],
    ['b', { n: 2 }],
    ['c', { n: 3 }],
  ]);
  await db.count({ index: 'n' });
  return { db, storage };
}

const READS: Record<string, [read: (db: Store) => Promise<unknown>, expected: unknown]> = {
  get: [(db) => db.get('b'), { n: 9 }],
  'get of what is deleted': [(db) => db.get('c'), undefined],
  has: [(db) => db.has('d'), true],
  'has of what is deleted': [(db) => db.has('c'), false],
  getMany: [(db) => db.getMany(['a', 'b', 'c', 'd']), [{ n: 1 }, { n: 9 }, undefined, { n: 4 }]],
  count: [(db) => db.count(), 4],
  'count of a range': [(db) => db.count({ gt: 'b' }), 2],
  'count of an index': [(db) => db.count({ index: 'n', gte: 4 }), 3],
  scan: [(db) => db.scan().keys().toArray(), ['a', 'b', 'd', 'e']],
  'scan of a range': [
    (db) => db.scan({ gte: 'b' }).values().toArray(),
    [{ n: 9 }, { n: 4 }, { n: 5 }],
  ],
  'scan of an index': [(db) => db.scan({ index: 'n' }).keys().toArray(), ['a', 'd', 'e', 'b']],
  'a scan by hand': [
    async (db) => (await db.scan({ gt: 'b' })[Symbol.asyncIterator]().next()).value,
    ['d', { n: 4 }],
  ],
};

describe.each(Object.entries(READS))('%s', (_, [read, expected]) => {
  it('sees puts and deletes without an await', async () => {
    const { db, storage } = await opened();
    storage.hooks.write = () => new Promise((resolve) => setTimeout(resolve, 10));
    const edits = [
      db.put('b', { n: 0 }),
      db.put('b', { n: 9 }),
      db.delete('c'),
      db.put('d', { n: 4 }),
      db.put('e', { n: 5 }),
    ];
    expect(await read(db)).toEqual(expected);
    await Promise.all(edits);
    expect(await read(db)).toEqual(expected);
    await db.close();
  });

  it('sees writes in progress, and writes that are called while those run', async () => {
    const { db, storage } = await opened();
    let proceed = () => {};
    storage.hooks.write = () =>
      new Promise<void>((resolve) => {
        proceed = resolve;
      });
    const first = db.put('b', { n: 0 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const rest = [
      db.put('b', { n: 9 }),
      db.delete('c'),
      db.put('d', { n: 4 }),
      db.put('e', { n: 5 }),
    ];
    const reading = read(db);
    const step = setInterval(() => proceed(), 2);
    expect(await reading).toEqual(expected);
    await Promise.all([first, ...rest]);
    clearInterval(step);
    await db.close();
  });

  it('does not wait for other keys or for another handle', async () => {
    const { db, storage } = await opened();
    const other = await db.branches.open('other');
    let proceed = () => {};
    storage.hooks.write = () =>
      new Promise<void>((resolve) => {
        proceed = resolve;
      });
    const edits = [
      db.put('b', { n: 9 }),
      db.delete('c'),
      db.put('d', { n: 4 }),
      db.put('e', { n: 5 }),
    ];
    await new Promise((resolve) => setTimeout(resolve, 5));
    // The edits hang until the interval lets them continue.
    expect(await db.get('a')).toEqual({ n: 1 });
    expect(await db.has('none')).toBe(false);
    expect(await db.getMany(['a', 'none'])).toEqual([{ n: 1 }, undefined]);
    expect(await db.count({ lt: 'b' })).toBe(1);
    expect(await db.scan({ prefix: 'a' }).keys().toArray()).toEqual(['a']);
    expect(await read(other)).not.toEqual(expected);
    const step = setInterval(() => proceed(), 2);
    await Promise.all(edits);
    clearInterval(step);
    await db.close();
  });
});

it('a refused put is not visible, and fails no read', async () => {
  const { db } = await opened();
  let deep: unknown = 1;
  for (let level = 0; level < 600; level++) deep = [deep];
  const bad = db.put('a', deep);
  const reading = [db.get('a'), db.scan({ lte: 'a' }).values().toArray(), db.has('a')];
  await expect(bad).rejects.toEqual(failure('invalid-argument/value'));
  expect(await Promise.all(reading)).toEqual([{ n: 1 }, [{ n: 1 }], true]);
  await db.close();
});

it('a put that fails in storage is not visible', async () => {
  const { db, storage } = await opened();
  storage.hooks.write = () => Promise.reject(new Error('full'));
  const bad = db.put('a', 5);
  const reading = db.get('a');
  await expect(bad).rejects.toThrow();
  expect(await reading).toEqual({ n: 1 });
});

it('a waiting read is refused when the store closes', async () => {
  const { db, storage } = await opened();
  storage.hooks.write = () => new Promise((resolve) => setTimeout(resolve, 10));
  const put = db.put('a', 5);
  const reading = db.get('a');
  const closing = db.close();
  await expect(reading).rejects.toEqual(failure('closed'));
  await Promise.all([put, closing]);
});

it('reads inside of a transaction that blocks others see a put, too', async () => {
  const { db } = await opened();
  const other = await db.branches.open('main');
  let runs = 0;
  const seen = await db.transaction(async (tx) => {
    await tx.get('a');
    tx.put('y', 1);
    if (runs++ === 0) await other.put('a', { n: 7 });
    void db.put('x', runs);
    return db.get('x');
  });
  expect([runs, seen]).toEqual([2, 2]);
  await db.close();
});

it('puts, deletes and reads in any order have the results of awaited calls', async () => {
  await forSeeds(30, async (from) => {
    const { db, storage } = await opened();
    storage.hooks.write = async () => {
      for (let left = from.below(4); left > 0; left--)
        await new Promise((next) => setImmediate(next));
    };
    const rows = new Map<string, unknown>(await db.scan().toArray());
    const calls: Promise<void>[] = [];
    const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];
    const same = (call: Promise<unknown>, expected: unknown, what: string) => {
      calls.push(call.then((found) => expectSame(found, expected, what)));
    };
    for (let step = 0; step < 60; step++) {
      const key = from.pick(KEYS);
      const kind = from.below(10);
      const read = ['get', 'has', 'getMany', 'count', 'scan'][kind - 4];
      const what = `step ${step}, ${read} of ${key}`;
      if (kind < 3) {
        rows.set(key, { n: step });
        calls.push(db.put(key, { n: step }));
      } else if (kind === 3) {
        rows.delete(key);
        calls.push(db.delete(key));
      } else if (kind === 9) {
        for (let left = from.below(6); left > 0; left--) await Promise.resolve();
        if (from.below(3) === 0) await new Promise((next) => setImmediate(next));
      } else {
        // A read may see later edits, too, but none of these keys has one.
        const expected = sorted(rows) as Entry[];
        const before = calls.length;
        if (kind === 4) same(db.get(key), rows.get(key), what);
        else if (kind === 5) same(db.has(key), rows.has(key), what);
        else if (kind === 6)
          same(
            db.getMany(KEYS),
            KEYS.map((one) => rows.get(one)),
            what,
          );
        else if (kind === 7)
          same(db.count({ gte: key }), select(expected, { gte: key }).length, what);
        else same(db.scan({ lte: key }).toArray(), select(expected, { lte: key }), what);
        await calls[before];
      }
    }
    await Promise.all(calls);
    expectSame(await db.scan().toArray(), sorted(rows), 'at the end');
    await db.close();
  });
});
