/** Iterators that are used by hand: they can be iterated, and a dropped one has no hold. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { type Entry, expectSame } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const COUNT = 400;

/** Rows of 4 KiB that do not compress: several blocks of a scan. */
function rowsOf(seed: number): Entry[] {
  const from = random(seed);
  return Array.from(
    { length: COUNT },
    (_, at): Entry => [
      `k${String(at).padStart(4, '0')}`,
      { n: at, text: Buffer.from(from.bytes(3000)).toString('base64') },
    ],
  );
}

async function filled(): Promise<Store> {
  const indexes = { n: { path: '/n' } };
  const db = await open('test', { storage: memory(), indexes });
  await db.putMany(rowsOf(1));
  expect(await db.count({ index: 'n' })).toBe(COUNT);
  return db;
}

type Begin = (db: Store) => AsyncIterable<unknown>;

const READS: Record<string, Begin> = {
  'a scan': (db) => db.scan(),
  'a scan of values': (db) => db.scan({ reverse: true }).values(),
  'a scan of an index': (db) => db.scan({ index: 'n' }),
  'a scan of a snapshot': (db) => db.snapshot().scan(),
  'a diff': (db) => db.history.diff('0'.repeat(64), db.root),
  changes: (db) => db.history.since('0'.repeat(64)),
};

describe.each(Object.entries(READS))('%s that is read by hand', (_, begin) => {
  it('can be continued by for await', async () => {
    const db = await filled();
    const iterator = begin(db)[Symbol.asyncIterator]() as AsyncIterableIterator<unknown>;
    const first = await iterator.next();
    const rest: unknown[] = [];
    for await (const one of iterator) rest.push(one);
    const all: unknown[] = [];
    for await (const one of begin(db)) all.push(one);
    expect(all.length).toBe(COUNT);
    expectSame([first.value, ...rest], all);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await db.close();
  });

  it('keeps no row from collection when it is dropped after one row', async () => {
    const db = await filled();
    const one = async () => {
      await begin(db)[Symbol.asyncIterator]().next();
    };
    for (let times = 0; times < 3; times++) await one();
    await db.putMany(rowsOf(2));
    const ratio = async () => {
      // Rows that were returned in this turn stay until it ends.
      await new Promise((resolve) => setTimeout(resolve, 5));
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 5));
      await db.health.compact();
      const { storedBytes, liveBytes } = await db.health.stats();
      return storedBytes / liveBytes;
    };
    // Two generations of rows would be twice as much.
    await expect.poll(ratio, { timeout: 10_000, interval: 10 }).toBeLessThan(1.3);
    await db.close();
  });
});

it('an iterator that has returned its last row has no hold, although it was not called again', async () => {
  const db = await filled();
  const iterators = [db.scan({ limit: 1 }), db.scan({ index: 'n', limit: 1 })].map((rows) =>
    rows[Symbol.asyncIterator](),
  );
  for (const iterator of iterators) expect((await iterator.next()).done).toBe(false);
  await db.putMany(rowsOf(2));
  await db.health.compact();
  const { storedBytes, liveBytes } = await db.health.stats();
  expect(storedBytes / liveBytes).toBeLessThan(1.3);
  for (const iterator of iterators) expect((await iterator.next()).done).toBe(true);
  await db.close();
});

it('an iterator with a waiting caller does not end', async () => {
  const db = await filled();
  const first = db.scan().values()[Symbol.asyncIterator]().next();
  for (let times = 0; times < 3; times++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expectSame((await first).value, rowsOf(1)[0]?.[1]);
  await db.close();
});

it('the entries of a sum tree can be read by hand, and are released', async () => {
  const db = await open('test', { storage: memory() });
  const value = (seed: number) => random(seed).bytes(4000);
  const leaves = (seed: number) =>
    Array.from({ length: 300 }, (_, at) => ({ key: `k${at}`, value: value(seed + at), sum: 1n }));
  const tree = db.sumTree('t');
  await tree.putMany(leaves(1));
  const one = async () => {
    const iterator = tree.entries()[Symbol.asyncIterator]() as AsyncIterableIterator<unknown>;
    expect((await iterator.next()).done).toBe(false);
  };
  await one();
  await tree.putMany(leaves(1000));
  const ratio = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await db.health.compact();
    const { storedBytes, liveBytes } = await db.health.stats();
    return storedBytes / liveBytes;
  };
  await expect.poll(ratio, { timeout: 10_000, interval: 10 }).toBeLessThan(1.3);
  await db.close();
});
