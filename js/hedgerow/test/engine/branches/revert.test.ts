/** `commit` returns the roots around its own change; `revert` reverts that change and no other change. */
import { describe, expect, it } from 'vitest';
import { turn } from '../../../src/base/slice-queue.js';
import {
  type Conflict,
  memory,
  open,
  type Storage,
  type Store,
  type Transaction,
} from '../../../src/index.js';
import { tabs } from '../../support/models/merge-model.js';
import { all, failure, storeOf } from '../../support/models/store-model.js';
import { startCore } from '../../support/start-core.js';
import { ABC, twoHandles } from '../../support/two-handles.js';

const set = (db: Store, key: string, value: unknown) =>
  db.history.commit((tx) => tx.put(key, value));

describe('commit', () => {
  it('resolves to the value and the roots before and after', async () => {
    const db = await storeOf(ABC);
    const root = db.root;
    const done = await db.history.commit(async (tx) => {
      tx.put('a', 2);
      return tx.get('b');
    });
    expect(done).toMatchObject({ value: 2, before: root, after: db.root });
    expect(done.after).not.toBe(root);
  });

  it('resolves to one root when the store does not change', async () => {
    const db = await storeOf(ABC);
    const { root } = db;
    expect(await db.history.commit(() => 7)).toMatchObject({ value: 7, before: root, after: root });
    const same = await db.history.commit((tx) => {
      tx.put('a', 1);
      tx.delete('none');
    });
    expect([same.before, same.after]).toEqual([root, root]);
  });

  it('has no changes of others between its roots, with many writers at once', async () => {
    const [one, two] = await twoHandles(ABC);
    const edits = Array.from({ length: 40 }, (_, at) => {
      const db = at % 2 ? one : two;
      const other = (at % 2 ? two : one).put(`other ${at % 7}`, at);
      const work = async (tx: Transaction) => {
        tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1);
        tx.put(`own ${at}`, at);
      };
      // A collection may start by itself before the roots are compared.
      const done = db.history.commit(work, { keep: true });
      return Promise.all([done, other]);
    });
    const done = await Promise.all(edits);
    // The commits of other handles arrive a moment later.
    await expect.poll(() => one.get('n')).toBe(40);
    for (const [at, [{ before, after }]] of done.entries()) {
      const changes = await one.history.diff(before, after).toArray();
      expect(changes.map(({ key }) => key)).toEqual(['n', `own ${at}`]);
    }
  });

  it('has the head of its last run as the root before, when it runs again', async () => {
    const [one, two] = await twoHandles(ABC);
    let runs = 0;
    const { before, after } = await one.history.commit(async (tx) => {
      await tx.get('a');
      if (runs++ === 0) await two.put('a', 'theirs');
      tx.put('b', 'mine');
    });
    expect(runs).toBe(2);
    const changes = await one.history.diff(before, after).toArray();
    expect(changes).toEqual([{ op: 'update', key: 'b', oldValue: 2, newValue: 'mine' }]);
  });

  it('rejects with the error of its function, and makes no commit', async () => {
    const db = await storeOf(ABC);
    const { root } = db;
    const thrown = db.history.commit((tx) => {
      tx.put('a', 5);
      throw new RangeError('mine');
    });
    await expect(thrown).rejects.toThrow(new RangeError('mine'));
    expect(db.root).toBe(root);
  });
});

describe('revert', () => {
  it('restores values and deleted rows, and removes inserted rows', async () => {
    const db = await storeOf(ABC);
    const { before, after } = await db.history.commit((tx) => {
      tx.put('a', 'changed');
      tx.delete('b');
      tx.put('d', 'new');
    });
    await db.put('e', 'of another');
    const undone = await db.history.revert(before, after);
    expect(undone).toEqual({ root: db.root, rows: 3, kept: [] });
    expect(await all(db)).toEqual([...ABC, ['e', 'of another']]);
    await db.delete('e');
    expect(db.root).toBe(before);
  });

  it('reverts a change with other writes around it, in another handle', async () => {
    const [one, two] = await twoHandles(ABC);
    const { before, after } = await set(one, 'a', 'mine');
    await two.putMany(Array.from({ length: 2000 }, (_, at) => [`n${at}`, at]));
    await two.delete('b');
    expect(await two.history.revert(before, after)).toMatchObject({ rows: 1, kept: [] });
    // The commits of other handles arrive a moment later.
    await expect.poll(() => one.getMany(['a', 'b', 'n7'])).toEqual([1, undefined, 7]);
  });

  it('keeps rows that were changed in the meantime, and returns them', async () => {
    const [one, two] = await twoHandles(ABC);
    const { before, after } = await one.history.commit((tx) => {
      for (const key of ['a', 'b', 'c', 'd', 'e']) tx.put(key, 'mine');
    });
    await two.put('a', 'theirs');
    await two.delete('b');
    await two.delete('d');
    await two.put('e', 'theirs');
    const { rows: reverted, kept } = await one.history.revert(before, after);
    // `d` is already gone, as it was before.
    expect([reverted, kept]).toEqual([1, ['a', 'b', 'e']]);
    expect(await all(one)).toEqual([
      ['a', 'theirs'],
      ['c', 3],
      ['e', 'theirs'],
    ]);
  });

  it('lets `onConflict` decide', async () => {
    const db = await storeOf(ABC);
    const { before, after } = await db.history.commit((tx) => {
      for (const key of ['a', 'b', 'c', 'd']) tx.put(key, 'mine');
    });
    for (const key of ['a', 'b', 'c', 'd']) await db.put(key, 'theirs');
    const asked: Conflict[] = [];
    const undone = await db.history.revert(before, after, {
      onConflict: async (conflict) => {
        asked.push(conflict);
        const { key, ours, theirs } = conflict;
        return { a: theirs, b: ours, c: 'other' }[key];
      },
    });
    expect(asked[0]).toEqual({ key: 'a', base: 'mine', ours: 'theirs', theirs: 1 });
    expect(asked[3]).toEqual({ key: 'd', base: 'mine', ours: 'theirs', theirs: undefined });
    expect(undone).toEqual({ root: db.root, rows: 3, kept: ['b'] });
    expect(await all(db)).toEqual([
      ['a', 1],
      ['b', 'theirs'],
      ['c', 'other'],
    ]);
    const cause = new Error('mine');
    const throwing = db.history.revert(after, before, {
      onConflict: () => {
        throw cause;
      },
    });
    await expect(throwing).rejects.toBe(cause);
    expect(await db.get('d')).toBe(undefined);
  });

  it('is undone by `revert(after, before)`', async () => {
    const db = await storeOf(ABC);
    const { before, after } = await db.history.commit((tx) => {
      tx.put('a', 'mine');
      tx.delete('b');
      tx.put('d', 4);
    });
    for (let round = 0; round < 3; round++) {
      expect((await db.history.revert(before, after)).rows).toBe(3);
      expect(db.root).toBe(before);
      expect((await db.history.revert(after, before)).rows).toBe(3);
      expect(db.root).toBe(after);
    }
  });

  it('leaves the root as it is, and makes no commit, without a change to revert', async () => {
    const db = await storeOf(ABC);
    const { before, after } = await set(db, 'a', 'mine');
    const nothing = { root: after, rows: 0, kept: [] };
    expect(await db.history.revert(after, after)).toEqual(nothing);
    expect(await db.history.revert(after, before)).toEqual(nothing);
    await db.put('a', 'theirs');
    const { root } = db;
    expect(await db.history.revert(before, after)).toEqual({ root, rows: 0, kept: ['a'] });
    expect(db.root).toBe(root);
  });

  it('reverts the first change of a store, and a change that emptied it', async () => {
    const db = await open('test', { storage: memory() });
    const first = await set(db, 'a', 1);
    await db.history.revert(first.before, first.after);
    expect(await db.count()).toBe(0);
    await db.putMany(ABC);
    const emptied = await db.history.commit((tx) => tx.deleteMany(['a', 'b', 'c']));
    await db.history.revert(emptied.before, emptied.after);
    expect(await all(db)).toEqual(ABC);
  });

  it('restores large values, bytes and exact numbers as they were stored', async () => {
    const db = await storeOf([]);
    const large = 'x'.repeat(300_000);
    const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
    await db.putMany([
      ['bytes', bytes],
      ['large', large],
    ]);
    await db.putMany(new Blob(['["exact", 12345678901234567890.1234]\n']), { format: 'ndjson' });
    const { root } = db;
    const { before, after } = await db.history.commit((tx) =>
      tx.deleteMany(['bytes', 'large', 'exact']),
    );
    await db.history.revert(before, after);
    expect(db.root).toBe(root);
    expect(await db.get('large')).toBe(large);
    expect(await db.get('bytes')).toEqual(bytes);
  });

  it('updates indexes, sum trees and watchers in one call', async () => {
    const storage = memory();
    const indexes = { n: { path: '/n' } };
    const db = await open('test', {
      storage,
      indexes,
      advanced: { sums: { total: { sum: '/n' } } },
    });
    await db.putMany(Array.from({ length: 50 }, (_, n) => [`k${n}`, { n }]));
    const total = db.sumTree('total').root.sum;
    const { before, after } = await db.history.commit((tx) => {
      for (let n = 0; n < 10; n++) tx.put(`k${n}`, { n: 1000 + n });
      tx.delete('k20');
    });
    await db.put('k30', { n: 31 });
    const calls: string[][] = [];
    const stop = db.watch({}, (changes) => {
      calls.push(changes.map(({ key }) => key));
    });
    expect(await db.history.revert(before, after)).toMatchObject({ rows: 11 });
    while (calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    stop();
    expect(calls).toEqual([[...Array.from({ length: 10 }, (_, n) => `k${n}`), 'k20'].sort()]);
    expect(await db.count({ index: 'n', gte: 1000 })).toBe(0);
    expect(await db.scan({ index: 'n', gte: 20, lt: 32 }).keys().toArray()).toHaveLength(12);
    expect(db.sumTree('total').root.sum).toBe(total + 1n);
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });

  it('works on branches, and with roots of other branches', async () => {
    const db = await storeOf(ABC);
    const { before, after } = await set(db, 'a', 'mine');
    const draft = await db.branches.open('draft');
    await draft.put('b', 'of the draft');
    await draft.history.revert(before, after);
    expect(await all(draft)).toEqual([
      ['a', 1],
      ['b', 'of the draft'],
      ['c', 3],
    ]);
    expect(await db.get('a')).toBe('mine');
    const own = await set(draft, 'c', 'draft');
    await db.history.revert(own.after, own.before);
    expect(await db.get('c')).toBe('draft');
  });

  it('takes snapshots, which keep both commits', async () => {
    const db = await storeOf(ABC);
    const before = db.snapshot();
    await db.put('a', 'mine');
    const after = db.snapshot();
    for (let at = 0; at < 5; at++) await db.putMany([['big', `${at}`.repeat(90_000)]]);
    await db.health.compact();
    expect((await db.history.revert(before, after)).rows).toBe(1);
    expect(await db.get('a')).toBe(1);
    before.close();
    await expect(db.history.revert(before, after)).rejects.toEqual(failure('closed'));
    const other = await storeOf([]);
    await expect(other.history.revert(after, after)).rejects.toEqual(failure('invalid-argument'));
  });

  it('rejects with `missing-chunk` after a root was collected, and the store does not change', async () => {
    const db = await storeOf(ABC);
    await db.putMany(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'x'.repeat(400)]));
    const { before, after } = await set(db, 'k7', 'mine');
    await db.putMany(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'y'.repeat(400)]));
    await db.health.compact();
    const { root } = db;
    await expect(db.history.revert(before, after)).rejects.toEqual(failure('missing-chunk'));
    await expect(db.history.revert('1'.repeat(64), after)).rejects.toEqual(
      failure('missing-chunk'),
    );
    expect(db.root).toBe(root);
    await db.put('a', 2);
  });

  it('reverts a held change until its release, whatever is collected', async () => {
    const storage = memory();
    const [one, two] = await twoHandles(ABC, storage);
    for (const db of [one, two]) {
      const fill = (char: string) =>
        db.putMany(Array.from({ length: 500 }, (_, at) => [`k${at}`, char.repeat(400)]));
      await fill('x');
      const kept = await db.history.commit((tx) => tx.put('k7', 'mine'), { keep: true });
      await fill('y');
      await one.health.compact();
      const { rows: reverted, kept: others } = await db.history.revert(kept.before, kept.after);
      expect([reverted, others]).toEqual([0, ['k7']]);
      await db.put('k7', 'mine');
      await one.health.compact();
      expect((await db.history.revert(kept.before, kept.after)).rows).toBe(1);
      expect(await db.get('k7')).toBe('x'.repeat(400));
      kept.close();
      kept.close();
      await fill('z');
      await one.health.compact();
      await expect(db.history.revert(kept.before, kept.after)).rejects.toEqual(
        failure('missing-chunk'),
      );
    }
    expect((await one.health.verify()).faults).toEqual([]);
  });

  it('ends when another tab never stops writing', async () => {
    const [one, two] = await twoHandles(ABC, tabs());
    const { before, after } = await one.history.commit((tx) => tx.put('a', 'mine'), { keep: true });
    let isOver = false;
    const putting = (async () => {
      for (let at = 0; !isOver; at++) {
        await two.put(`n${at % 9}`, at);
        // Storage of a browser waits as well; without the wait a page could not load at all.
        await turn();
      }
    })();
    for (let round = 0; round < 10; round++) {
      expect((await one.history.revert(before, after)).rows).toBe(1);
      expect((await one.history.revert(after, before)).rows).toBe(1);
    }
    isOver = true;
    await putting;
  });

  it('reads the rows of the change, and no later changes of others', async () => {
    /** Returns the bytes that the revert reads from storage. */
    const asked = async (others: number) => {
      const inner = memory();
      let bytes = 0;
      const storage: Storage = {
        ...inner,
        open: async (...args) => {
          const segments = await inner.open(...args);
          const read = segments.read.bind(segments);
          const counted: typeof read = async (wanted) => {
            const found = await read(wanted);
            for (const part of found) bytes += part?.length ?? 0;
            return found;
          };
          // Chunks are read by themselves, not with their segments.
          return Object.assign(segments, { read: counted, requestCost: 0 });
        },
      };
      const db = await open('test', { storage: inner });
      await db.putMany(Array.from({ length: 100 }, (_, at) => [`k${at}`, at]));
      const mine = async (tx: Transaction) => {
        for (let at = 0; at < 10; at++) tx.put(`k${at}`, 'mine');
      };
      const { before, after } = await db.history.commit(mine, { keep: true });
      await db.putMany(Array.from({ length: others }, (_, at) => [`other ${at}`, at]));
      // Another handle has no chunk in memory.
      const cold = await open('test', { storage, advanced: { cacheBytes: 0 } });
      await startCore(cold);
      bytes = 0;
      expect((await cold.history.revert(before, after)).rows).toBe(10);
      return bytes;
    };
    const [small, large] = [await asked(10), await asked(200_000)];
    expect(small).toBeGreaterThan(0);
    // A megabyte and more would be the rows of all others.
    expect(large).toBeLessThan(20 * small);
  });
});
