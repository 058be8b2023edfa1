/** The storage of states by itself, with the behaviour on which all libraries rely. */
import { describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../../hedgerow/src/index.js';
import { faulty } from '../../hedgerow/test/support/doubles/faulty-storage.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import { handles } from '../../hedgerow/test/support/watching.js';
import { hedgerowStateStorage } from '../src/state.js';

/** Counts the commits that a body makes. */
async function commitsOf(db: Store, body: () => Promise<unknown>): Promise<number> {
  const roots = new Set<string>();
  const stop = db.watch({}, (_, { root }) => void roots.add(root));
  await body();
  const last = db.root;
  await expect.poll(() => roots.has(last)).toBe(true);
  stop();
  return roots.size;
}

describe('hedgerowStateStorage', () => {
  it('keeps values by their keys, below a prefix', async () => {
    const db = await open('app', { storage: memory() });
    const storage = hedgerowStateStorage(Promise.resolve(db), { prefix: 'state/' });
    expect(await storage.getItem('a')).toBeNull();
    expect(await storage.getItem('a', 5)).toBe(5);
    for (const value of [{ a: [1, null] }, 'text', 0, false, null, '{"a":1}']) {
      await storage.setItem('a', value);
      expect(await storage.getItem('a', 'initial')).toEqual(value);
      expect(await db.get('state/a')).toEqual(value);
    }
    await storage.setItem('a', undefined);
    expect(await storage.getItem('a', 5)).toBe(5);
    await storage.setItem('b', 1);
    await storage.removeItem('b');
    expect(await db.count()).toBe(0);
    await db.close();
  });

  it('makes few commits of a burst of writes, in their order', async () => {
    const db = await open('app', { storage: memory() });
    const storage = hedgerowStateStorage<number>(async () => db);
    const commits = await commitsOf(db, async () => {
      const writes: Promise<void>[] = [];
      for (let at = 1; at <= 500; at++) {
        writes.push(storage.setItem('a', at));
        // Also across turns that end before the commit does.
        if (at % 50 === 0) await Promise.resolve();
      }
      await Promise.all(writes);
    });
    expect(commits).toBeLessThan(20);
    expect(await storage.getItem('a')).toBe(500);
    await db.close();
  });

  it('reports the writes of others, and not its own', async () => {
    const [db, other] = await handles(2);
    const [mine, theirs] = [hedgerowStateStorage(db), hedgerowStateStorage(other)];
    const told: unknown[] = [];
    const both: unknown[] = [];
    await mine.setItem('a', 1);
    expect(await mine.getItem('a')).toBe(1);
    const stop = mine.subscribe('a', (value) => told.push(value), 'initial');
    const stopBoth = mine.subscribe('a', (value) => both.push(value));
    await mine.setItem('a', 2);
    await mine.setItem('b', 2);
    await theirs.setItem('a', { three: 3 });
    await expect.poll(() => told).toEqual([{ three: 3 }]);
    await theirs.setItem('b', 3);
    await theirs.removeItem('a');
    await expect.poll(() => told).toEqual([{ three: 3 }, 'initial']);
    await theirs.setItem('a', null);
    await expect.poll(() => told).toEqual([{ three: 3 }, 'initial', null]);
    expect(both).toEqual([{ three: 3 }, null, null]);
    stop();
    await theirs.setItem('a', 4);
    await expect.poll(() => both.at(-1)).toBe(4);
    stopBoth();
    stopBoth();
    await theirs.setItem('a', 5);
    await expect.poll(() => mine.getItem('a')).toBe(5);
    expect([told.length, both.length]).toEqual([3, 4]);
    // A listener that subscribes again hears again.
    const stopAgain = mine.subscribe('a', (value) => told.push(value));
    await theirs.setItem('a', 6);
    await expect.poll(() => told.at(-1)).toBe(6);
    stopAgain();
    await Promise.all([db.close(), other.close()]);
  });

  it('reports writes between a read and the beginning of a watch', async () => {
    const [db, other] = await handles(2);
    const mine = hedgerowStateStorage(db);
    expect(await mine.getItem('a', 0)).toBe(0);
    await other.put('a', 1);
    await expect.poll(() => db.get('a')).toBe(1);
    const told: unknown[] = [];
    const stop = mine.subscribe('a', (value) => told.push(value));
    await expect.poll(() => told).toEqual([1]);
    stop();
    await Promise.all([db.close(), other.close()]);
  });

  it('gives each tab the final state of the store, whoever writes', async () => {
    await forSeeds(20, async (from, _, begin) => {
      const dbs = await handles(2);
      const tabs = dbs.map((db) => {
        const storage = hedgerowStateStorage<number>(db);
        const tab = { storage, shown: -1, stop: () => {} };
        tab.stop = storage.subscribe('n', (value) => {
          tab.shown = value;
        });
        return tab;
      });
      const writes: Promise<void>[] = [];
      for (let step = 1; step <= 40; step++) {
        const tab = tabs[from.below(2)] as (typeof tabs)[number];
        begin(step);
        // Like a library, it shows a change at once.
        tab.shown = step;
        writes.push(tab.storage.setItem('n', step));
        if (from.below(3) === 0) await writes.at(-1);
        if (from.below(3) === 0) await new Promise((resolve) => setTimeout(resolve));
      }
      await Promise.all(writes);
      const [first, second] = dbs;
      const isSame = async () => {
        const values = [
          await first.get('n'),
          await second.get('n'),
          ...tabs.map((tab) => tab.shown),
        ];
        return new Set(values).size;
      };
      await expect.poll(isSame).toBe(1);
      for (const { stop } of tabs) stop();
      await Promise.all(dbs.map((db) => db.close()));
    });
  });

  it('never reports its own writes, however writes and commits meet', async () => {
    await forSeeds(10, async (from) => {
      const db = await open('app', { storage: memory() });
      const storage = hedgerowStateStorage<number>(db);
      const told: number[] = [];
      await storage.setItem('n', 0);
      const stop = storage.subscribe('n', (value) => told.push(value));
      // The listener makes it look in every turn, also when it is asked again while it looks.
      const last: Promise<void>[] = [];
      for (let n = 1; n <= 150; n++) {
        const written = storage.setItem('n', n);
        last.push(written);
        if (from.below(4) === 0) await written;
        for (let turns = from.below(12); turns > 0; turns--) await Promise.resolve();
        if (from.below(6) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(last);
      await db.put('n', -1);
      // It reports only the writes of other code.
      await expect.poll(() => told).toEqual([-1]);
      stop();
      await db.close();
    });
  });

  it('does not report its own writes while it reads', async () => {
    const db = await open('app', { storage: memory() });
    const states = hedgerowStateStorage<number>(db);
    const told: number[] = [];
    await states.setItem('n', 1);
    const stop = states.subscribe('n', (value) => told.push(value));
    await expect.poll(() => told).toEqual([1]);
    const reading = states.getItem('n');
    await states.setItem('n', 2);
    expect(await reading).toBe(1);
    await db.put('n', -1);
    await expect.poll(() => told).toEqual([1, -1]);
    stop();
    await db.close();
  });

  it('reads less often than a burst writes', async () => {
    const db = await open('app', { storage: memory() });
    const get = vi.spyOn(db, 'get');
    const states = hedgerowStateStorage<number>(db);
    const told: number[] = [];
    const stop = states.subscribe('n', (value) => told.push(value));
    await Promise.all(Array.from({ length: 500 }, (_, at) => states.setItem('n', at)));
    await db.put('n', -1);
    await expect.poll(() => told).toEqual([-1]);
    expect(get.mock.calls.length).toBeLessThan(10);
    stop();
    await db.close();
  });

  it('watches again for a later listener after a store could not be opened', async () => {
    const db = await open('app', { storage: memory() });
    let isThere = false;
    const errors: unknown[] = [];
    const states = hedgerowStateStorage(
      async () => {
        if (!isThere) throw new Error('not yet');
        return db;
      },
      { onError: (cause) => errors.push(cause) },
    );
    const told: unknown[] = [];
    const stops = [states.subscribe('a', (value) => told.push(['first', value]), 0)];
    await expect.poll(() => errors).toEqual([new Error('not yet')]);
    isThere = true;
    stops.push(states.subscribe('a', (value) => told.push(['second', value]), 0));
    await expect
      .poll(() => told)
      .toEqual([
        ['first', 0],
        ['second', 0],
      ]);
    await db.put('a', 1);
    await expect
      .poll(() => told.slice(2))
      .toEqual([
        ['first', 1],
        ['second', 1],
      ]);
    for (const stop of stops) stop();
    await db.close();
  });

  it('rejects and reports refused and failed writes', async () => {
    const storage = faulty(memory());
    const db = await open('app', { storage });
    const errors: unknown[] = [];
    const states = hedgerowStateStorage(db, { onError: (cause, key) => errors.push([key, cause]) });
    const invalid = { code: 'invalid-argument', detail: 'value' };
    await expect(states.setItem('a', { map: new Map([[1, 2]]) })).rejects.toMatchObject(invalid);
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    await expect(states.setItem('a', cyclic)).rejects.toMatchObject(invalid);
    await expect(states.setItem('x'.repeat(2000), 1)).rejects.toMatchObject({
      ...ofKind('invalid-argument/key'),
    });
    const error = new HedgerowError('quota-exceeded', 'the disk is full');
    storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
    // A library may drop the promise without an unhandled rejection.
    void states.setItem('a', 1);
    await expect.poll(() => errors.length).toBe(4);
    expect(errors[3]).toEqual(['a', error]);
    storage.heal();
    await states.setItem('a', 1);
    states.subscribe('a', () => {});
    await states.setItem('a', 2);
    await db.close();
    await expect
      .poll(() => errors.at(-1))
      .toEqual(['a', expect.objectContaining({ code: 'closed' })]);
  });

  it('does not leave a refused write on show', async () => {
    const db = await open('app', { storage: memory() });
    const states = hedgerowStateStorage(db);
    await states.setItem('a', 1);
    let shown: unknown;
    const stop = states.subscribe('a', (value) => {
      shown = value;
    });
    // It has looked already: only the refusal makes it look again.
    await expect.poll(() => shown).toBe(1);
    shown = { map: new Map([[1, 2]]) };
    await expect(states.setItem('a', shown)).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
    });
    await expect.poll(() => shown).toBe(1);
    stop();
    await db.close();
  });

  it('refuses invalid arguments', () => {
    const invalid = expect.objectContaining(ofKind('invalid-argument'));
    const some = async () => {};
    for (const given of [[5], [{}], [some, { prefx: 'a' }], [some, { onError: 5 }]]) {
      expect(() => hedgerowStateStorage(...(given as [never])), String(given)).toThrow(invalid);
    }
    expect(() => hedgerowStateStorage(some as never, { prefix: '\ud800' })).toThrow(
      expect.objectContaining({ code: 'invalid-argument', detail: 'key' }),
    );
  });
});
