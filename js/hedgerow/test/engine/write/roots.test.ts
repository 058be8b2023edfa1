/** The same rows have the same root after any history. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { all, type Entry, expectSame, sorted, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';

function entriesOf(from: Random, count: number): Entry[] {
  return Array.from({ length: count }, (_, at): Entry => {
    const value = from.pick([
      () => from.value(3),
      () => from.below(10),
      () => 'x'.repeat(from.below(300)),
      () => from.bytes(from.below(50)),
      () => (at % 400 === 0 ? from.bytes(3000 + from.below(3000)) : null),
    ])();
    return [`${from.text(2)}${from.below(count * 3)}`, value];
  });
}

/** Returns the root of a fresh load of sorted rows, which is the simplest way of all. */
async function rootOf(entries: Iterable<Entry>): Promise<string> {
  return (await storeOf(sorted(entries))).root;
}

describe('the root is the same', () => {
  it('for any order of arrival', async () => {
    await forSeeds(6, async (from, _, begin) => {
      const entries = sorted(entriesOf(from, from.pick([10, 300, 3000])));
      const root = await rootOf(entries);
      for (let round = 0; round < 3; round++) {
        begin({ rows: entries.length });
        expect((await storeOf(from.shuffle(entries))).root).toBe(root);
      }
    });
  });

  it('for put one by one, putMany in parts, and putMany at once', async () => {
    await forSeeds(5, async (from, _, begin) => {
      const entries = entriesOf(from, 600);
      const root = await rootOf(entries);
      const [oneByOne, together, parts] = await Promise.all([storeOf(), storeOf(), storeOf()]);
      begin('puts, one after the other');
      for (const [key, value] of entries) await oneByOne.put(key, value);
      expect(oneByOne.root).toBe(root);
      begin('puts, all at once');
      await Promise.all(entries.map(([key, value]) => together.put(key, value)));
      expect(together.root).toBe(root);
      for (let at = 0; at < entries.length; ) {
        const length = 1 + from.below(200);
        begin({ putMany: length, at });
        await parts.putMany(entries.slice(at, at + length));
        at += length;
      }
      expect(parts.root).toBe(root);
    });
  });

  it('for rows as pairs and rows with a pointer, from any source', async () => {
    const rows = Array.from({ length: 5000 }, (_, at) => ({ id: `r${at}`, at }));
    const pairs = rows.map((row): Entry => [row.id, row]);
    const root = await rootOf(pairs);
    const asynchronous = async function* () {
      yield* rows;
    };
    const loads: ((db: Awaited<ReturnType<typeof storeOf>>) => Promise<unknown>)[] = [
      (db) => db.putMany(rows, { key: '/id' }),
      (db) => db.putMany(rows, { key: (row) => row.id }),
      (db) => db.putMany(new Set(rows), { key: '/id' }),
      (db) => db.putMany(asynchronous(), { key: '/id' }),
      (db) =>
        db.putMany(
          rows.map((row) => [row.id.slice(1), row]),
          { prefix: 'r' },
        ),
    ];
    for (const load of loads) {
      const db = await storeOf();
      await load(db);
      expect(db.root).toBe(root);
    }
  });

  it('for any slices and any cache', async () => {
    const from = random(11);
    const entries = from.shuffle(entriesOf(from, 8000));
    const root = await rootOf(entries);
    for (const advanced of [{ sliceMs: 0.01 }, { sliceMs: 1000 }, { cacheBytes: 0 }]) {
      const db = await open('test', { storage: memory(), advanced });
      await db.putMany(entries.slice(0, 4000));
      await db.putMany(entries.slice(4000));
      expect(db.root).toBe(root);
    }
  });

  it('after a close and an opening', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.putMany(entriesOf(random(5), 1000));
    const [root, rows] = [db.root, await all(db)];
    await db.close();
    const again = await open('test', { storage });
    expect(again.root).toBe(root);
    expectSame(await all(again), rows);
  });

  it('after any history of puts, deletes and loads', async () => {
    await forSeeds(8, async (from, _, begin) => {
      const db = await storeOf();
      const model = new Map<string, unknown>();
      const keys = Array.from({ length: 400 }, () => from.text(4));
      for (let round = 0; round < 40; round++) {
        const edits = Array.from({ length: from.pick([1, 1, 5, 100]) }, (): Entry => {
          const value = from.next() < 0.1 ? from.bytes(from.below(6000)) : from.value(2);
          return [from.pick(keys), value];
        });
        begin({ edits });
        if (from.next() < 0.4) {
          await db.putMany(edits);
          for (const [key, value] of edits) model.set(key, value);
        } else {
          await Promise.all(
            edits.map(([key, value]) => {
              if (from.next() < 0.5) {
                model.delete(key);
                return db.delete(key);
              }
              model.set(key, value);
              return db.put(key, value);
            }),
          );
        }
      }
      const fresh = await storeOf(sorted(model));
      expectSame(await all(db), await all(fresh));
      expectSame(
        await db.scan().keys().toArray(),
        sorted(model).map(([key]) => key),
      );
      expect(db.root).toBe(fresh.root);
    });
  });
});

describe('the root changes', () => {
  it('with any value or key, and returns when they are put back', async () => {
    const from = random(9);
    const entries = sorted(entriesOf(from, 2000));
    const db = await storeOf(entries);
    const { root } = db;
    const roots = new Set([root]);
    for (let round = 0; round < 50; round++) {
      const [key, value] = from.pick(entries);
      await db.put(key, { changed: round });
      expect(roots.has(db.root)).toBe(false);
      roots.add(db.root);
      await db.put(key, value);
      expect(db.root).toBe(root);
      await db.delete(key);
      expect(roots.has(db.root)).toBe(false);
      await db.put(key, value);
      expect(db.root).toBe(root);
      await db.put(`${key} new`, round);
      expect(roots.has(db.root)).toBe(false);
      roots.add(db.root);
      await db.delete(`${key} new`);
      expect(db.root).toBe(root);
    }
  });

  it('with a load, and returns when its rows are deleted or put back', async () => {
    const from = random(10);
    const entries = entriesOf(from, 3000);
    const db = await storeOf(entries);
    const { root } = db;
    const before = await all(db);
    const added = Array.from({ length: 1000 }, (_, at): Entry => [`new ${from.text(3)}${at}`, at]);
    await db.putMany(added);
    await Promise.all(added.map(([key]) => db.delete(key)));
    expect(db.root).toBe(root);
    await db.putMany(before.map(([key]) => [key, 0]));
    expect(db.root).not.toBe(root);
    await db.putMany(from.shuffle(before));
    expect(db.root).toBe(root);
  });

  it('not with a put of the same value, which writes no segment', async () => {
    const storage = memory();
    const entries = entriesOf(random(12), 500);
    const db = await open('test', { storage });
    await db.putMany(entries);
    const { root } = db;
    const { segments } = await db.health.stats();
    expect(await db.putMany(sorted(entries))).toMatchObject({ root, stats: { chunks: 0 } });
    for (const [key, value] of sorted(entries).slice(0, 10)) await db.put(key, value);
    await db.delete('absent');
    expect(db.root).toBe(root);
    expect((await db.health.stats()).segments).toBe(segments);
  });
});

it('the root of a store without rows is the same, new or emptied', async () => {
  const [fresh, emptied, loaded] = await Promise.all([storeOf(), storeOf(), storeOf()]);
  await emptied.put('a', 1);
  await emptied.delete('a');
  await loaded.putMany([]);
  expect(loaded.root).toBe(fresh.root);
  expect(emptied.root).toBe(fresh.root);
});

it('the root is 64 digits in hexadecimal, and known', async () => {
  const db = await storeOf([['key', 'value']]);
  expect(db.root).toMatch(/^[0-9a-f]{64}$/);
  expect(db.root).toBe((await storeOf([['key', 'value']])).root);
});
