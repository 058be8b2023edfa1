/** Several handles of one store, as in several tabs. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, failure, sorted } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';

async function twoHandles(storage: Storage = memory()) {
  return [await open('test', { storage }), await open('test', { storage })] as const;
}

describe('a handle that is behind', () => {
  it('puts rows on the commits of another handle', async () => {
    const [one, other] = await twoHandles();
    await one.put('a', 1);
    await other.put('b', 2);
    await one.put('c', 3);
    expect(await all(one)).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    await other.delete('a');
    expect(await all(other)).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
  });

  it('sees a row of another handle after its own write', async () => {
    const [one, other] = await twoHandles();
    await one.put('k', 1);
    await other.put('mine', 1);
    expect(await other.get('k')).toBe(1);
    await one.put('k', 2);
    await other.put('k', 3);
    await one.put('mine', 2);
    expect(await all(one)).toEqual([
      ['k', 3],
      ['mine', 2],
    ]);
  });

  it('makes its bulk changes on the commits of another handle', async () => {
    const [one, other] = await twoHandles();
    const rows = Array.from({ length: 2000 }, (_, at): Entry => [`k${at}`, at]);
    await one.putMany([
      ['a', 1],
      ['k5', 'of one'],
    ]);
    await other.putMany(rows);
    expectSame(await all(other), sorted([['a', 1], ...rows]));
    await one.put('late', 1);
    await other.deleteMany({ prefix: 'k1' });
    await one.put('k1', 'again');
    await other.deleteMany(['a']);
    const rest = rows.filter(([key]) => !key.startsWith('k1'));
    expectSame(await all(other), sorted([['k1', 'again'], ['late', 1], ...rest]));
  });

  it('keeps puts of another handle while its own rows arrive', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const storage = memory();
      const [one, other] = await twoHandles(storage);
      const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
      const model = new Map<string, unknown>(keys.slice(0, from.below(300)).map((k) => [k, 0]));
      await one.putMany(model);
      const mine = from.shuffle(keys).slice(0, 50);
      const lastWords = new Set<string>();
      const source = async function* (): AsyncGenerator<Entry> {
        for (const key of mine) {
          // Puts that leave the row as it is count as well.
          yield [key, 0];
          const theirs = from.pick(keys);
          const db = from.pick([one, other]);
          if (db === other) lastWords.add(theirs);
          const isPut = from.below(2) === 0;
          begin({
            [isPut ? 'put' : 'delete']: theirs,
            by: db === one ? 'one' : 'other',
            after: key,
          });
          if (isPut) await db.put(theirs, 1);
          else await db.delete(theirs);
          model.set(theirs, await db.get(theirs));
        }
      };
      await other.putMany(source());
      for (const key of mine) if (!lastWords.has(key)) model.set(key, 0);
      const expected = sorted([...model].filter(([, value]) => value !== undefined));
      expectSame(await all(other), expected);
      expectSame(await all(await open('test', { storage })), expected);
    });
  });

  it('reads its last head until it refreshes', async () => {
    const [one, other] = await twoHandles();
    await one.put('a', 1);
    expect([undefined, 1]).toContain(await other.get('a'));
    const { root } = one;
    await other.put('b', 1);
    await other.delete('b');
    expect(other.root).toBe(root);
  });
});

describe('calls on one handle', () => {
  it('run in their order, awaited or not', async () => {
    await forSeeds(60, async (from, _, begin) => {
      const db = await open('test', { storage: memory() });
      const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
      const model = new Map<string, unknown>();
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < 25; call++) {
        const [key, some] = [from.pick(keys), from.shuffle(keys).slice(0, from.below(8))];
        // With few values many writes leave the row as it is.
        const value = from.below(3);
        const kind = from.below(7);
        begin({ kind, key, some, value });
        switch (kind) {
          case 0:
          case 1:
            calls.push(db.put(key, value));
            model.set(key, value);
            break;
          case 2:
            calls.push(db.delete(key));
            model.delete(key);
            break;
          case 3:
            calls.push(db.putMany(some.map((key): Entry => [key, value])));
            for (const key of some) model.set(key, value);
            break;
          case 4: {
            const text = some.map((key) => JSON.stringify([key, value])).join('\n');
            calls.push(db.putMany(new Blob([text])));
            for (const key of some) model.set(key, value);
            break;
          }
          case 5:
            calls.push(db.deleteMany(some));
            for (const key of some) model.delete(key);
            break;
          default:
            calls.push(db.deleteMany({ gte: 'k1', lt: 'k3' }));
            for (const key of keys) if (key >= 'k1' && key < 'k3') model.delete(key);
        }
        if (from.below(3) === 0) await calls.at(-1);
        if (from.below(3) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(calls);
      expectSame(await all(db), sorted(model));
    });
  });

  it('that edit a row during a load override the load', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany([
      ['same', 1],
      ['gone', 1],
      ['kept', 0],
    ]);
    let proceed = () => {};
    const edited = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const source = async function* (): AsyncGenerator<Entry> {
      for (const key of ['changed', 'gone', 'kept', 'same']) yield [key, 2];
      await edited;
      yield ['zz', 2];
    };
    const loading = db.putMany(source());
    const writer = db.writer();
    writer.tryPut('written', 3);
    await db.put('changed', 'by hand');
    await db.put('same', 1);
    await db.delete('gone');
    await db.put('written', 'by hand');
    await expect(db.put('kept', undefined)).rejects.toEqual(failure('invalid-argument/value'));
    writer.tryPut('changed', 'written later');
    proceed();
    await loading;
    expect(await all(db)).toEqual([
      ['changed', 'by hand'],
      ['kept', 2],
      ['same', 1],
      ['written', 'by hand'],
      ['zz', 2],
    ]);
    await writer.close();
    expect(await db.get('changed')).toBe('written later');
    expect(await db.get('written')).toBe('by hand');
  });
});

describe('a race', () => {
  it('that is lost again and again is won in the end', async () => {
    const storage = watched(memory());
    const [one, other] = await twoHandles(storage);
    let races = 0;
    const { hooks } = storage;
    hooks.write = async () => {
      if (races === 10) return;
      races++;
      const { write } = hooks;
      delete hooks.write;
      await other.put('other', races);
      if (write !== undefined) hooks.write = write;
    };
    await one.put('one', 1);
    expect(races).toBe(10);
    expect(await all(one)).toEqual([
      ['one', 1],
      ['other', 10],
    ]);
  });

  it('that is always lost rejects with conflict, and the store works', async () => {
    const storage = watched(memory());
    const [one, other] = await twoHandles(storage);
    let races = 0;
    const { hooks } = storage;
    const race = async () => {
      delete hooks.write;
      await other.put('other', races++);
      hooks.write = race;
    };
    hooks.write = race;
    await expect(one.put('one', 1)).rejects.toEqual(failure('conflict'));
    delete hooks.write;
    expect(await one.get('one')).toBeUndefined();
    await one.put('one', 2);
    expect(await all(one)).toEqual([
      ['one', 2],
      ['other', races - 1],
    ]);
  });

  it('between many handles loses no row', async () => {
    const storage = memory();
    const handles = await Promise.all(Array.from({ length: 5 }, () => open('test', { storage })));
    await Promise.all(
      handles.map(async (db, handle) => {
        for (let at = 0; at < 40; at++) await db.put(`${handle}/${at}`, at);
      }),
    );
    const end = await open('test', { storage });
    expect(await end.count()).toBe(200);
    const roots = await Promise.all(
      handles.map(async (db) => {
        await db.put('end', 1);
        return db.root;
      }),
    );
    expect(new Set(roots).size).toBe(1);
  });

  it('of random changes has the effect of a serial order', async () => {
    await forSeeds(10, async (from, _, begin) => {
      const storage = memory();
      const handles = await twoHandles(storage);
      const model = new Map<string, unknown>();
      for (let turn = 0; turn < 60; turn++) {
        const db = from.pick(handles);
        const key = `k${from.below(200)}`;
        begin({ put: key, by: handles.indexOf(db) });
        // A new value each time, so that every put changes the row.
        await db.put(key, { turn, text: from.text(50) });
        model.set(key, await db.get(key));
      }
      expectSame(await all(await open('test', { storage })), sorted(model));
    });
  });
});

it('no writer relies on segments of an aborted load', async () => {
  const from = random(8);
  const rows = Array.from({ length: 150 }, (_, at): Entry => [`k${at + 100}`, from.bytes(40_000)]);
  for (const cacheBytes of [64 << 20, 0]) {
    const storage = watched(memory());
    const one = await open('test', { storage });
    const abort = new AbortController();
    const source = async function* () {
      yield* rows;
      await new Promise(() => {});
    };
    const loading = one.putMany(source(), { signal: abort.signal });
    loading.catch(() => {});
    while (storage.written.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const other = await open('test', { storage, advanced: { cacheBytes } });
    expect((await other.health.stats()).segments).toBeGreaterThan(0);
    await other.putMany(rows);
    abort.abort();
    await expect(loading).rejects.toEqual(failure('aborted'));
    for (const db of [other, await open('test', { storage })]) {
      expectSame(await all(db), rows);
      const keys = rows.map(([key]) => key);
      expectSame(
        await db.getMany(keys),
        rows.map(([, value]) => value),
      );
    }
  }
});

it('stores of different names are independent', async () => {
  const storage = memory();
  const [one, other] = [await open('one', { storage }), await open('other', { storage })];
  await one.put('a', 1);
  await other.put('b', 2);
  expect(await all(one)).toEqual([['a', 1]]);
  expect(await all(other)).toEqual([['b', 2]]);
});
