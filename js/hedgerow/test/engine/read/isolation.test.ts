/** A read sees one commit, with any writes during it. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { all, type Entry, expectSame, sorted, storeOf } from '../../support/models/store-model.js';

function entriesOf(count: number, value: (at: number) => unknown): Entry[] {
  return sorted(Array.from({ length: count }, (_, at): Entry => [`k${at}`, value(at)]));
}

const OLD = entriesOf(5000, (at) => ({ old: at, text: 'x'.repeat(100) }));
const NEW = entriesOf(5000, (at) => (at % 7 === 0 ? Uint8Array.of(at) : { new: at }));

/** Reads slowly, and runs `change` after the row at `after`. */
async function readAround(
  db: Store,
  after: number,
  change: () => Promise<unknown>,
  reverse = false,
): Promise<Entry[]> {
  const seen: Entry[] = [];
  for await (const entry of db.scan({ reverse })) {
    seen.push(entry as Entry);
    if (seen.length === after) await change();
    if (seen.length % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return reverse ? seen.reverse() : seen;
}

const changes: [string, (db: Store) => Promise<unknown>][] = [
  ['a putMany of all of it', (db) => db.putMany(NEW)],
  ['deletes of all of it', (db) => Promise.all(OLD.map(([key]) => db.delete(key)))],
  ['a put at its end', (db) => db.put('z', 1)],
  ['a put at its start', (db) => db.put('a', 1)],
  [
    'many commits, one after the other',
    async (db) => {
      for (let at = 0; at < 50; at++) await db.put(`k${at * 100}`, 'new');
      for (let at = 0; at < 50; at++) await db.delete(`k${at * 99}`);
    },
  ],
];

describe('a scan sees the old rows after', () => {
  for (const [title, change] of changes) {
    for (const cacheBytes of [64 << 20, 0]) {
      it(`${title}, with a cache of ${cacheBytes} bytes`, async () => {
        for (const [after, reverse] of [
          [1, false],
          [2000, true],
        ] as const) {
          const storage = memory();
          await (await open('test', { storage })).putMany(OLD);
          const db = await open('test', { storage, advanced: { cacheBytes } });
          expectSame(await readAround(db, after, () => change(db), reverse), OLD);
          expect(isDeepStrictEqual(await all(db), OLD)).toBe(false);
        }
      });
    }
  }
});

it('a scan that begins in the turn of a write sees the old rows', async () => {
  const db = await storeOf(OLD);
  const [writing, reading] = [db.putMany(NEW), all(db)];
  expectSame(await reading, OLD);
  await writing;
  expectSame(await all(db), NEW);
});

it('reads during a putMany see no row of it, and reads after it see all', async () => {
  const db = await storeOf(OLD);
  let done = false;
  const writing = db.putMany(NEW).finally(() => {
    done = true;
  });
  let reads = 0;
  while (!done) {
    const seen = await all(db);
    reads++;
    const isNew = Object.hasOwn(seen[1]?.[1] as object, 'new');
    expectSame(seen, isNew ? NEW : OLD);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await writing;
  expect(reads).toBeGreaterThan(0);
  expectSame(await all(db), NEW);
});

it('two scans of different commits run side by side', async () => {
  const db = await storeOf(OLD);
  const old = db.scan()[Symbol.asyncIterator]();
  const seen: [unknown[], unknown[]] = [[(await old.next()).value], []];
  await db.putMany(NEW);
  const next = db.scan()[Symbol.asyncIterator]();
  for (let at = 0; at < 5000; at++) {
    if (at > 0) seen[0].push((await old.next()).value);
    seen[1].push((await next.next()).value);
  }
  expectSame(seen, [OLD, NEW]);
  expect([(await old.next()).done, (await next.next()).done]).toEqual([true, true]);
});

it('count, getMany and has read one commit, with any writes in the meantime', async () => {
  const storage = memory();
  await (await open('test', { storage })).putMany(OLD);
  const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
  const keys = OLD.map(([key]) => key);
  const [count, many, has] = [db.count(), db.getMany(keys), db.has('k1')];
  const deleting = Promise.all(keys.map((key) => db.delete(key)));
  expect(await count).toBe(5000);
  expectSame(
    await many,
    OLD.map(([, value]) => value),
  );
  expect(await has).toBe(true);
  await deleting;
  expect(await db.count()).toBe(0);
});

it('a scan that is left early frees its hold', async () => {
  const db = await storeOf(OLD);
  for (let round = 0; round < 300; round++) {
    for await (const _ of db.scan()) break;
  }
  const before = (await db.health.stats()).memoryBytes;
  for (let round = 0; round < 3000; round++) {
    for await (const _ of db.scan()) break;
  }
  expect((await db.health.stats()).memoryBytes - before).toBeLessThan(4 << 20);
});
