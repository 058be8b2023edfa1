/** Transactions during other transactions and writers, and on storage that fails. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { failure, storeOf, within } from '../../support/models/store-model.js';
import { ABC, twoHandles } from '../../support/two-handles.js';

describe('transactions that meet', () => {
  it('never break a condition that both transactions check', async () => {
    for (let round = 0; round < 20; round++) {
      const [one, two] = await twoHandles([
        ['x', 1],
        ['y', 1],
      ]);
      let runs = 0;
      // Each may empty its own row if the other row is not empty.
      const take = (db: Store, mine: string) =>
        db.transaction(async (tx) => {
          runs += 1;
          const [x = 0, y = 0] = await tx.getMany<number>(['x', 'y']);
          await new Promise((resolve) => setImmediate(resolve));
          if (x + y > 1) tx.put(mine, 0);
        });
      await Promise.all([take(one, 'x'), take(round % 2 === 0 ? two : one, 'y')]);
      await one.put('end', 1);
      const values = await one.getMany<number>(['x', 'y']);
      expect(values.sort()).toEqual([0, 1]);
      expect(runs).toBe(3);
    }
  });

  it('in one tab run twice at most', async () => {
    const db = await storeOf([['n', 0]]);
    let runs = 0;
    const calls = Array.from({ length: 200 }, () =>
      db.transaction(async (tx) => {
        runs += 1;
        tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1);
      }),
    );
    await Promise.all(calls);
    expect(await db.get('n')).toBe(200);
    expect(runs).toBeLessThan(400);
  });

  it('succeed while puts never stop', async () => {
    const db = await storeOf([['n', 0]]);
    let isOver = false;
    const putting = (async () => {
      for (let at = 0; !isOver; at++) await db.put('n', at);
    })();
    let runs = 0;
    for (let at = 0; at < 20; at++) {
      await db.transaction(async (tx) => {
        runs += 1;
        tx.put('seen', await tx.get('n'));
      });
    }
    isOver = true;
    await putting;
    expect(runs).toBeLessThanOrEqual(40);
  });

  it('do not wait for a call that waits for them', async () => {
    const [one, two] = await twoHandles(ABC);
    let runs = 0;
    const done = one.transaction(async (tx) => {
      runs += 1;
      tx.put('sum', await tx.get('a'));
      if (runs === 1) await two.put('a', 9);
      // The call waits for writers that wait for this run.
      else {
        await one.put('within', runs);
        await one.transaction((inner) => inner.put('inner', runs));
      }
    });
    await within(done);
    expect(await one.getMany(['sum', 'within', 'inner'])).toEqual([9, 2, 2]);
  });

  it('reject with `conflict` when they always lose', async () => {
    const [one, two] = await twoHandles(ABC);
    let runs = 0;
    const done = one.transaction(async (tx) => {
      runs += 1;
      tx.put('b', await tx.get('a'));
      await two.put('a', runs + 100);
    });
    await expect(within(done)).rejects.toEqual(failure('conflict', { retryable: true }));
    expect(runs).toBe(64);
    expect(await one.get('b')).toBe(2);
    await one.transaction(async (tx) => tx.put('b', await tx.get('a')));
    expect(await one.get('b')).toBe(164);
  });
});

describe('a failure of storage', () => {
  it('before a commit rejects the transaction, and no row is written', async () => {
    const storage = watched(memory());
    const [db] = await twoHandles(ABC, storage);
    const mine = new Error('mine');
    let runs = 0;
    storage.hooks.write = () => {
      throw mine;
    };
    const call = db.transaction(async (tx) => {
      runs += 1;
      tx.put('a', ((await tx.get<number>('a')) ?? 0) + 1);
    });
    expect(await call.catch((error: unknown) => error)).toBe(mine);
    delete storage.hooks.write;
    expect([runs, await db.get('a')]).toEqual([1, 1]);
    await db.transaction(async (tx) => tx.put('a', ((await tx.get<number>('a')) ?? 0) + 1));
    expect(await db.get('a')).toBe(2);
  });

  it('is not mistaken for a success when another writer made the same commit', async () => {
    const inner = memory();
    const storage = watched(inner);
    const one = await open('test', { storage });
    await one.put('n', 0);
    const two = await open('test', { storage: inner });
    const increment = (db: Store) =>
      db.transaction(async (tx) => tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1));
    const mine = new Error('mine');
    storage.hooks.write = async () => {
      // The same rows, so the same commit, of the same generation.
      await increment(two);
      throw mine;
    };
    expect(await increment(one).catch((error: unknown) => error)).toBe(mine);
    delete storage.hooks.write;
    await increment(one);
    expect(await one.get('n')).toBe(2);
  });

  it('that loses the answer to a commit does not repeat the commit', async () => {
    for (let at = 1; at <= 5; at++) {
      const inner = memory();
      await (await open('test', { storage: inner })).put('n', 0);
      const storage = faulty(inner);
      const db = await open('test', { storage });
      storage.fail({ at: storage.calls() + at, when: 'after', error: new Error('mine') });
      const done = await db
        .transaction(async (tx) => tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1))
        .then(
          () => true,
          () => false,
        );
      const n = await (await open('test', { storage: inner })).get('n');
      if (done) expect(n).toBe(1);
      else expect([0, 1]).toContain(n);
    }
  });
});
