/** Storage fails, at every call to it: no call hangs and no change is torn. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { error, itIsWhole } from '../support/fault-sweep.js';
import { rows, WORKLOADS } from '../support/fault-workloads.js';
import { all, expectSame, sorted, within } from '../support/models/store-model.js';

for (const [title, operations] of Object.entries(WORKLOADS)) itIsWhole(title, operations);

describe('storage that fails for long', () => {
  it('makes each call fail, and the store works again after it', async () => {
    const storage = faulty(memory());
    const db = await open('test', { storage });
    await db.put('a', 1);
    for (let round = 0; round < 3; round++) {
      storage.fail({ at: storage.calls() + 1, lasting: true, when: 'before', error });
      const { root } = db;
      const calls = [db.put('b', 1), db.delete('a'), db.putMany([['c', 1]])];
      for (const result of await within(Promise.allSettled(calls))) {
        expect(result).toEqual({ status: 'rejected', reason: error });
      }
      expect(db.root).toBe(root);
      expect(await db.get('a')).toBe(1);
      storage.heal();
      await db.put('b', round);
      expect(await all(db)).toEqual([
        ['a', 1],
        ['b', round],
      ]);
    }
  });

  it('makes reads fail, each with its error, and succeed later', async () => {
    const storage = faulty(memory());
    const entries = sorted(rows('a', 3000, 500));
    await (await open('test', { storage })).putMany(entries);
    const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
    storage.fail({
      call: 'read',
      at: storage.calls('read') + 1,
      lasting: true,
      when: 'before',
      error,
    });
    const count = db.count({ gte: 'a01000' });
    const calls = [db.get('a00001'), db.getMany(['a02000']), db.scan().toArray(), count];
    for (const result of await within(Promise.allSettled(calls))) {
      expect(result).toEqual({ status: 'rejected', reason: error });
    }
    storage.heal();
    expectSame(await all(db), entries);
    expectSame(await db.get('a00001'), entries[1]?.[1]);
  });

  it('ends the load of an async source, too', async () => {
    const storage = faulty(memory());
    const db = await open('test', { storage });
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    let returned = 0;
    const source = async function* () {
      try {
        for (const row of rows('a', 1000, 50_000)) yield row;
      } finally {
        returned++;
      }
    };
    await expect(within(db.putMany(source()))).rejects.toBe(error);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(returned).toBe(1);
    storage.heal();
    expect(await all(db)).toEqual([]);
  });
});

it('a store that cannot open closes storage', async () => {
  const storage = faulty(memory());
  storage.fail({ call: 'load', at: 1, when: 'before', error });
  await expect(open('test', { storage })).rejects.toBe(error);
  expect(storage.calls('close')).toBe(1);
  storage.fail({ call: 'open', at: 2, when: 'before', error });
  await expect(open('test', { storage })).rejects.toBe(error);
  expect(await all(await open('test', { storage }))).toEqual([]);
});
