/** The core traps: the call fails with a typed error, and the next call finds the store unchanged. */
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, open } from '../../src/index.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { watched } from '../support/doubles/watched-storage.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  within,
} from '../support/models/store-model.js';
import { callFrom } from '../support/models/trap-workload.js';
import { forSeeds, isDeep } from '../support/property.js';
import { random } from '../support/random.js';
import { headOf } from '../support/remote-store.js';
import { startCore } from '../support/start-core.js';
import { alive, forget, isPending, started, trapIn, trapped } from '../support/trapping.js';

/** The number of traps that a seed makes. */
const TRAPS = isDeep ? 125 : 50;
const HOUR = 3_600_000;

const crashed = failure('unavailable/crashed', { retryable: true });
const rows = (count: number, bytes = 0): Entry[] =>
  Array.from({ length: count }, (_, at): Entry => {
    const value = bytes === 0 ? { at } : random(at).bytes(bytes);
    return [`k${String(at).padStart(6, '0')}`, value];
  });
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(forget);
afterEach(() => trapIn(Number.POSITIVE_INFINITY));

describe('after traps, each in a random call', () => {
  afterAll(() => {
    const each = [...trapped].sort(([, a], [, b]) => b - a);
    console.info(each.map(([name, count]) => `${name} ${count}`).join(', '));
  });

  it(
    'the next call is right each time, and no memory is held',
    async () => {
      const titles = new Map<string, number>();
      let [traps, calls, rejected, most] = [0, 0, 0, 0];
      await forSeeds(8, async (from, _, begin) => {
        const storage = memory();
        const db = await open('test', { storage, advanced: { cacheBytes: 0 } });
        await startCore(db);
        let model = new Map<string, unknown>();
        for (let left = TRAPS; left > 0; ) {
          // Only calls from now on count: a new instance runs undisturbed.
          if (!isPending()) trapIn(1 + from.below(from.pick([3, 30, 150])));
          const call = callFrom(from);
          begin(call.title);
          calls += 1;
          const before = sorted(model);
          const caught = await within(
            call.run(db, before).then(
              () => undefined,
              (cause: unknown) => cause,
            ),
          );
          const isHit = !isPending();
          if (caught !== undefined) {
            expect(caught, call.title).toEqual(crashed);
            expect(isHit, call.title).toBe(true);
            titles.set(call.title, (titles.get(call.title) ?? 0) + 1);
            rejected += 1;
          }
          const states = [...call.changes(new Map(model))].length;
          const after = new Map(model);
          const changes = call.changes(after)[Symbol.iterator]();
          if (caught === undefined) {
            for (let state = 0; state < states; state++) changes.next();
            model = after;
          } else if (states > 1) {
            // Some of its commits may have taken effect.
            const found = await all(db);
            const same = (candidate: Map<string, unknown>) => {
              try {
                expectSame(found, sorted(candidate));
                return true;
              } catch {
                return false;
              }
            };
            const candidate = new Map(model);
            const steps = call.changes(candidate)[Symbol.iterator]();
            while (!same(candidate) && steps.next().done !== true);
            model = candidate;
          }
          if (isHit) {
            traps += 1;
            left -= 1;
            expectSame(await all(db), sorted(model), `after ${call.title}, trap ${traps}`);
            const key = from.pick([...model.keys(), 'none']);
            expectSame(await db.get(key), model.get(key), key);
          }
          if (left === 0) {
            trapIn(Number.POSITIVE_INFINITY);
            const other = await open('test', { storage });
            expectSame(await all(other), sorted(model), `stored after trap ${traps}`);
            await other.close();
            const { memoryBytes } = await db.health.stats();
            expect(memoryBytes).toBeLessThan(16 << 20);
            // Alive are the instance of the store and some instances of stores just closed; never one for each trap.
            most = Math.max(most, await alive());
            expect(most, `instances after ${traps} traps`).toBeLessThan(8);
          }
        }
        await db.close();
      });
      console.info(
        `${traps} traps in ${calls} calls: ${rejected} rejected, ${started()} instances started, at most ${most} held`,
      );
      console.info([...titles].map(([title, count]) => `${title} ${count}`).join(', '));
    },
    HOUR,
  );
});

describe('a trap', () => {
  it('fails all calls in progress, and no call that has not begun', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const source = async function* () {
      yield* rows(300, 40_000);
      await new Promise(() => {});
    };
    // Rows that go among other rows are not written before all of them are known.
    const loading = db.putMany(source());
    loading.catch(() => {});
    while (storage.written.length < 4) await pause();
    const early = new Set(storage.stored.keys());
    await db.putMany(rows(2000));
    const scan = db.scan()[Symbol.asyncIterator]();
    await scan.next();
    const writer = db.writer();
    for (const [key] of rows(100)) await writer.put(key, 'by the writer'.repeat(4000));
    trapIn(1, 'count');
    await expect(db.count()).rejects.toEqual(crashed);
    const put = db.put('mine', 1);
    const count = db.count();
    const get = db.get('k000001');
    await within(put);
    expect(await within(get)).toEqual({ at: 1 });
    expect([2000, 2001]).toContain(await within(count));
    await expect(within(loading)).rejects.toEqual(crashed);
    await expect(within(writer.close())).rejects.toEqual(crashed);
    const rest = async () => {
      for (;;) if ((await scan.next()).done === true) return;
    };
    await expect(within(rest())).rejects.toEqual(crashed);
    expectSame(await all(db), sorted([...rows(2000), ['mine', 1]]));
    expect(early.size).toBeGreaterThan(3);
    expect([...storage.stored.keys()].filter((id) => early.has(id))).toEqual([]);
    expect((await db.health.stats()).segments).toBe(storage.stored.size);
  });

  it('does not bring back the segments of a load that it ended', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const large = rows(300, 40_000);
    const loading = db.putMany(
      (async function* () {
        yield* large;
        await new Promise(() => {});
      })(),
    );
    loading.catch(() => {});
    while (storage.written.length < 4) await pause();
    // The new instance reads storage before the segments are deleted, and receives the result after that.
    storage.hooks.load = async (loaded) => {
      await loading.catch(() => {});
      return loaded;
    };
    trapIn(1, 'count');
    await expect(db.count()).rejects.toEqual(crashed);
    await expect(within(loading)).rejects.toEqual(crashed);
    await within(db.putMany(large));
    expect((await db.health.stats()).segments).toBe(storage.stored.size);
    expectSame(await all(await open('test', { storage })), large);
  });

  it('while stats waits for its hold leaves the call to the new instance', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(2000));
    const { shared } = headOf(db);
    let goOn = () => {};
    let isHeld = false;
    vi.spyOn(shared, 'hold').mockImplementationOnce(async (commitBytes) => {
      const held = await shared.hold(commitBytes);
      trapIn(1, 'count');
      await expect(db.count()).rejects.toEqual(crashed);
      // A new instance starts, and waits for its tables.
      await new Promise<void>((resolve) => {
        storage.hooks.load = async (loaded) => {
          resolve();
          await new Promise<void>((given) => {
            goOn = given;
            isHeld = true;
          });
          return loaded;
        };
        db.get('k000001').catch(() => {});
      });
      return held;
    });
    const stats = db.health.stats();
    stats.catch(() => {});
    while (!isHeld) await pause();
    for (let turns = 0; turns < 20; turns++) await pause();
    delete storage.hooks.load;
    goOn();
    expect((await within(stats)).rows).toBe(2000);
  });

  it('does not undo a commit that storage has received', async () => {
    for (const inBetween of ['get', 'open_view', 'stored_segment', 'free', 'close_view']) {
      const storage = watched(memory());
      const db = await open('test', { storage });
      await db.put('a', 1);
      let reading: Promise<unknown> = Promise.resolve();
      storage.hooks.write = async () => {
        trapIn(1, inBetween);
        reading = inBetween === 'get' ? db.get('a').catch((cause: unknown) => cause) : reading;
        await pause();
      };
      await within(db.put('b', 2));
      delete storage.hooks.write;
      expect(isPending(), inBetween).toBe(false);
      if (inBetween === 'get') expect(await reading).toEqual(crashed);
      expect(await db.get('b')).toBe(2);
      expectSame(await all(db), [
        ['a', 1],
        ['b', 2],
      ]);
      expectSame(await all(await open('test', { storage })), await all(db));
      await db.put('c', 3);
      expect(await db.count()).toBe(3);
    }
  });

  it('makes later calls wait for the new instance, however long it takes', async () => {
    const storage = watched(memory());
    const slow = { delay: false };
    const db = await open('test', {
      storage: {
        ...storage,
        open: async (name) => {
          const store = await storage.open(name);
          const load: typeof store.load = async (known) => {
            if (slow.delay) await new Promise((resolve) => setTimeout(resolve, 100));
            return store.load(known);
          };
          return { ...store, load };
        },
      },
    });
    await db.putMany(rows(3));
    slow.delay = true;
    trapIn(1, 'get');
    await expect(db.get('k000000')).rejects.toEqual(crashed);
    const results = Promise.all([
      db.get('k000001'),
      db.getMany(['k000002']),
      db.has('k000001'),
      db.count(),
      db.scan().keys().toArray(),
      db.history.diff(db.root, db.root).toArray(),
      db.health.stats().then(({ rows }) => rows),
      db.put('k000009', 1),
      db.putMany([]),
      db.deleteMany({ gte: 'x' }),
    ]);
    const found = await within(results);
    const keys = ['k000000', 'k000001', 'k000002'];
    expect(found.slice(0, 3)).toEqual([{ at: 1 }, [{ at: 2 }], true]);
    expect([3, 4]).toContain(found[3]);
    expect((found[4] as string[]).slice(0, 3)).toEqual(keys);
    expect(await db.count()).toBe(4);
  });

  it('fails calls while storage does not answer, and works again after that', async () => {
    const storage = faulty(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(10));
    const error = new HedgerowError('unavailable/disconnected', 'for a test');
    storage.fail({ at: storage.calls() + 1, lasting: true, when: 'before', error });
    trapIn(1, 'get');
    await expect(db.get('k000000')).rejects.toEqual(crashed);
    const calls = [db.get('k000001'), db.put('a', 1), db.count(), all(db), db.putMany([])];
    for (const { status } of await within(Promise.allSettled(calls))) {
      expect(status).toBe('rejected');
    }
    for (const call of calls) await expect(call).rejects.toBe(error);
    storage.heal();
    expect(await db.get('k000001')).toEqual({ at: 1 });
    await db.put('a', 1);
    expect(await db.count()).toBe(11);
  });

  it('while the core starts fails the call that needs it, and no read', async () => {
    const storage = memory();
    await (await open('test', { storage })).putMany(rows(10));
    for (const name of ['start', 'reserve_tables', 'add_table', 'open_view']) {
      const db = await open('test', { storage });
      trapIn(1, name);
      const [put, read] = [db.put('a', name), all(db)];
      await expect(put, name).rejects.toEqual(crashed);
      expectSame(await read, rows(10));
      await db.put('b', name);
      expect(await db.getMany(['a', 'b'])).toEqual([undefined, name]);
      await db.delete('b');
      await db.close();
    }
  });

  it('after a successful call never closes the store', async () => {
    const db = await open('test', { storage: memory() });
    await db.put('a', 0);
    for (let round = 1; round <= 20; round++) {
      trapIn(1, 'ingest_feed');
      await expect(db.put('a', -1)).rejects.toEqual(crashed);
      if (round % 2 === 0) await db.put('a', round);
      else expect(await db.get('a')).toBe(round - 1);
    }
    await db.close();
  });

  it('right after another trap closes the store', async () => {
    for (const second of ['get', 'start', 'add_table', 'open_view', 'find']) {
      const storage = watched(memory());
      const db = await open('test', { storage });
      await db.putMany(rows(3));
      const writer = db.writer();
      writer.tryPut('w', 1);
      trapIn(1, 'get');
      await expect(db.get('a')).rejects.toEqual(crashed);
      trapIn(1, second);
      const call = second === 'get' ? db.get('a') : db.getMany(['a']);
      await expect(within(call), second).rejects.toEqual(crashed);
      const closed = failure('closed', { cause: crashed });
      for (const call of [db.get('a'), db.put('a', 1), db.count(), all(db), db.putMany([])]) {
        await expect(within(call), second).rejects.toEqual(closed);
      }
      await expect(within(writer.close())).rejects.toEqual(failure('closed'));
      await within(db.close());
      expect(storage.closed, second).toBe(1);
      const again = await open('test', { storage });
      expect(await again.count()).toBe(3);
      await again.close();
    }
  });
});
