/** Puts and deletes of single rows share commits. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';

async function watchedStore() {
  const storage = watched(memory());
  return { storage, db: await open('test', { storage }) };
}

describe('puts of one turn', () => {
  it('share one commit', async () => {
    const { storage, db } = await watchedStore();
    await Promise.all(Array.from({ length: 100 }, (_, at) => db.put(`k${at}`, at)));
    expect(storage.written).toHaveLength(1);
    expect(await db.count()).toBe(100);
    await Promise.all(Array.from({ length: 100 }, (_, at) => db.delete(`k${at}`)));
    expect(storage.written).toHaveLength(2);
    expect(await db.count()).toBe(0);
  });

  it('share the next commit when they are called during a write', async () => {
    const { storage, db } = await watchedStore();
    const puts: Promise<void>[] = [];
    storage.hooks.write = async () => {
      if (storage.written.length > 0) return;
      for (let at = 0; at < 50; at++) {
        puts.push(db.put(`later ${at}`, at));
        await Promise.resolve();
      }
    };
    await db.put('first', 1);
    await Promise.all(puts);
    expect(storage.written).toHaveLength(2);
    expect(await db.count()).toBe(51);
  });

  it('take effect in their order: the last of a key wins', async () => {
    const { storage, db } = await watchedStore();
    const values = [1, { two: 2 }, Uint8Array.of(3), new Uint8Array(9000), 'five'];
    for (const last of values) {
      const others = values.filter((value) => value !== last);
      await Promise.all([...others, last].map((value) => db.put('k', value)));
      expectSame(await db.get('k'), last);
    }
    expect(storage.written).toHaveLength(values.length);
  });

  it('take effect in their order with deletes', async () => {
    const db = await storeOf([['old', 1]]);
    await Promise.all([db.put('a', 1), db.delete('a'), db.delete('old'), db.put('b', 1)]);
    expect(await all(db)).toEqual([['b', 1]]);
    await Promise.all([db.delete('b'), db.put('b', 2), db.delete('c'), db.put('a', 3)]);
    expect(await all(db)).toEqual([
      ['a', 3],
      ['b', 2],
    ]);
    await Promise.all([db.put('a', 1), db.delete('a'), db.put('a', 2), db.delete('a')]);
    expect(await all(db)).toEqual([['b', 2]]);
    await Promise.all([db.delete('b'), db.put('b', 9), db.delete('b'), db.put('b', 2)]);
    expect(await all(db)).toEqual([['b', 2]]);
  });

  it('have the results of a model', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const db = await storeOf();
      const model = new Map<string, unknown>();
      for (let turn = 0; turn < 10; turn++) {
        const edits = Array.from({ length: from.below(60) }, () => {
          const key = `k${from.below(20)}`;
          if (from.next() < 0.4) {
            model.delete(key);
            return db.delete(key);
          }
          const value = from.next() < 0.2 ? from.bytes(from.below(20)) : from.below(9);
          model.set(key, value);
          return db.put(key, value);
        });
        begin({ edits: edits.length, rows: sorted(model) });
        if (from.next() < 0.7) await Promise.all(edits);
      }
      await db.put('end', 0);
      model.set('end', 0);
      expectSame(await all(db), sorted(model));
    });
  });

  it('resolve only when they can be read', async () => {
    const db = await storeOf();
    const reads = Array.from({ length: 50 }, async (_, at) => {
      await db.put(`k${at}`, at);
      const [got, [many], has, count] = await Promise.all([
        db.get(`k${at}`),
        db.getMany([`k${at}`]),
        db.has(`k${at}`),
        db.count({ prefix: `k${at}` }),
      ]);
      return got === at && many === at && has && count > 0;
    });
    expect(await Promise.all(reads)).not.toContain(false);
  });

  it('are durable when they resolve', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.put('a', 1);
    expect(await (await open('test', { storage })).get('a')).toBe(1);
  });
});

it('put and putMany called in one turn take effect one after the other', async () => {
  const db = await storeOf();
  const from = random(6);
  const rows = Array.from({ length: 30_000 }, (_, at): Entry => [`k${at}`, from.below(9)]);
  await Promise.all([db.put('k1', 'before'), db.putMany(rows), db.put('k2', 'after')]);
  // Edits are gathered to the end of the turn; both take effect, whole, in some order.
  expect(await db.count()).toBe(30_000);
  const [first, second] = await db.getMany(['k1', 'k2']);
  expect([rows[1]?.[1], 'before']).toContain(first);
  expect([rows[2]?.[1], 'after']).toContain(second);
});

it('several putMany of one store take effect in their order', async () => {
  const db = await storeOf();
  const loads = [1, 2, 3].map((round) =>
    db.putMany(Array.from({ length: 5000 }, (_, at): Entry => [`k${at % 4000}`, round])),
  );
  const results = await Promise.all(loads);
  expect(results.at(-1)?.root).toBe(db.root);
  expect(new Set((await all(db)).map(([, value]) => value))).toEqual(new Set([3]));
});

describe('close', () => {
  it('waits for writes in progress', async () => {
    const { storage, db } = await watchedStore();
    storage.hooks.write = () => new Promise((resolve) => setTimeout(resolve, 20));
    const done: string[] = [];
    const writes = [
      db.put('a', 1).then(() => done.push('put')),
      db.putMany([['b', 2]]).then(() => done.push('putMany')),
      db.delete('c').then(() => done.push('delete')),
    ];
    await db.close().then(() => done.push('close'));
    expect(done.at(-1)).toBe('close');
    await Promise.all(writes);
    expect(await all(await open('test', { storage }))).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('may be called again, at once or later, and closes storage once', async () => {
    const { storage, db } = await watchedStore();
    await Promise.all([db.close(), db.close()]);
    await db.close();
    expect(storage.closed).toBe(1);
  });

  it('makes all calls after it fail with closed', async () => {
    const db = await storeOf([['a', 1]]);
    const scan = db.scan();
    const closing = db.close();
    const check = async () => {
      const calls: Promise<unknown>[] = [
        db.put('a', 1),
        db.delete('a'),
        db.putMany([]),
        db.get('a'),
        db.getMany(['a']),
        db.has('a'),
        db.count(),
        db.health.stats(),
        scan.toArray(),
        scan.keys().toArray(),
        (async () => {
          for await (const _ of db.scan()) expect.fail('a row');
        })(),
      ];
      for (const call of calls) call.catch(() => {});
      for (const call of calls) await expect(call).rejects.toEqual(failure('closed'));
    };
    await check();
    await closing;
    await check();
  });

  it('leaves other handles of the store open', async () => {
    const storage = memory();
    const [one, other] = [await open('test', { storage }), await open('test', { storage })];
    await one.put('a', 1);
    await one.close();
    await other.put('b', 2);
    expect(await all(other)).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('keeps the name and the root', async () => {
    const db = await storeOf([['a', 1]]);
    const { root } = db;
    await db.close();
    expect([db.name, db.root]).toEqual(['test', root]);
  });
});
