/** Bytes from storage enter the core in slices, during the next read. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Host } from '../../src/core/operation-host.js';
import { startEngine } from '../../src/core/start-host.js';
import { memory, open, type Store } from '../../src/index.js';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore, Storage } from '../../src/storage/segment-store.js';
import { batch, move, segment } from '../support/contracts/segment-store/records.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import type { Entry } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';
import { random } from '../support/random.js';
import { startCore } from '../support/start-core.js';

/** The number of segments and tables that entered the core since the last turn, and the most in one turn. */
const entered = vi.hoisted(() => ({ now: 0, most: 0 }));

vi.mock(import('../../src/core/calls/segment-calls.js'), async (original) => {
  const calls = await original();
  const counted =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      entered.now += 1;
      entered.most = Math.max(entered.most, entered.now);
      return call(...args);
    };
  const [loadSegment, addTable] = [counted(calls.loadSegment), counted(calls.addTable)];
  return { ...calls, loadSegment, addTable, removeSegment: counted(calls.removeSegment) };
});

const KEYS = Array.from({ length: 10_000 }, (_, at) => `row/${at + 10_000}`);

/** Fills a store of about 20 segments. */
async function filled(): Promise<Storage> {
  const storage = memory();
  const db = await open('slices', { storage });
  await db.putMany(KEYS.map((key, at): Entry => [key, noise(at, 1000)]));
  await db.close();
  return storage;
}

/** Installs a clock that advances a millisecond at each reading. */
function slowClock(): void {
  let ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ms++);
}

/** Returns the most segments and tables that enter the core in one turn while `task` runs. */
async function mostInTurn(task: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  const other = () => {
    entered.now = 0;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  Object.assign(entered, { now: 0, most: 0 });
  await task();
  isOver = true;
  return entered.most;
}

/** Wraps a storage: requests cost as much as in a browser, and `observe` makes the reads. */
function observed(inner: Storage, observe: (store: SegmentStore) => SegmentStore['read']): Storage {
  return {
    ...inner,
    open: async (name, options) => {
      const store = await inner.open(name, options);
      const read = observe(store);
      return new Proxy(store, {
        get(target, member) {
          if (member === 'requestCost') return 1 << 20;
          const value = member === 'read' ? read : Reflect.get(target, member, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a read of storage', () => {
  it('asks for groups of 4 MiB, three groups at once', async () => {
    const storage = await filled();
    const groups: number[] = [];
    let underWay = 0;
    let most = 0;
    let isOpen = true;
    const watching = observed(storage, (store) => async (wanted) => {
      groups.push(wanted.length);
      underWay += 1;
      most = Math.max(most, underWay);
      // No group ends before the third has begun, and a fourth has had its turn.
      if (underWay === 3) setTimeout(() => (isOpen = true));
      await vi.waitUntil(() => isOpen, { interval: 1, timeout: 20_000 });
      underWay -= 1;
      return store.read(wanted);
    });
    const db = await open('slices', { storage: watching });
    await startCore(db);
    const before = groups.length;
    isOpen = false;
    const values = await db.getMany(KEYS.filter((_, at) => at % 10 === 0));
    expect(values.filter((value) => typeof value === 'string')).toHaveLength(1000);
    expect(Math.max(...groups.slice(before))).toBe(8);
    expect(most).toBe(3);
    await db.close();
  });

  it('asks for bytes, and passes them to the core, in slices, however many and however soon', async () => {
    const asked = { now: 0, most: 0 };
    const storage = {
      read: async (wanted: readonly unknown[]) => {
        asked.now += 1;
        asked.most = Math.max(asked.most, asked.now);
        setImmediate(() => {
          asked.now = 0;
        });
        return wanted.map(() => undefined);
      },
    };
    const host = new Host(await startEngine(), storage as unknown as SegmentStore, 1);
    slowClock();
    const most = await mostInTurn(() => host.load(Array.from({ length: 200 }, (_, at) => at + 1)));
    vi.restoreAllMocks();
    // 25 groups of 8 segments.
    expect(asked.most).toBeLessThanOrEqual(3);
    expect([1, 2, 3]).toContain(most);
  });

  it('passes bytes to the core in slices', async () => {
    const storage = await filled();
    const browsers = observed(storage, (store) => store.read);
    const db = await open('slices', { storage: browsers, advanced: { sliceMs: 1 } });
    slowClock();
    const most = await mostInTurn(() => db.getMany(KEYS.filter((_, at) => at % 10 === 0)));
    vi.restoreAllMocks();
    expect([1, 2, 3]).toContain(most);
    await db.close();
  });

  it('passes tables to the core in slices when a store opens, too', async () => {
    const storage = memory();
    const db = await open('tables', { storage });
    for (let at = 0; at < 60; at++) await db.put(`key${at}`, at);
    slowClock();
    let other: Store | undefined;
    const most = await mostInTurn(async () => {
      other = await open('tables', { storage, advanced: { sliceMs: 1 } });
    });
    vi.restoreAllMocks();
    expect([1, 2, 3]).toContain(most);
    await db.close();
    // The rest of its tables enters the core after `open`: not during the next test.
    await other?.close();
  });

  it('asks for parts of Blobs in slices, since each part waits for the browser in Chromium', async () => {
    const uninstall = install(new HostileEngine('chromium', random(1)));
    const store = await idb().open('parts');
    await store.write(batch([segment(1, 400_000)], move(0)));
    let ms = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => ms);
    const slice = Blob.prototype.slice;
    vi.spyOn(Blob.prototype, 'slice').mockImplementation(function (this: Blob, ...args) {
      ms += 1;
      entered.now += 1;
      entered.most = Math.max(entered.most, entered.now);
      return slice.apply(this, args);
    });
    const parts = Array.from({ length: 60 }, (_, at) => ({
      id: 1,
      from: 4096 * at,
      to: 4096 * (at + 1),
    }));
    // The first read looks the Blob up; the second has it.
    for (const _ of [1, 2]) {
      const most = await mostInTurn(async () => {
        const found = await store.read(parts);
        expect(found.map((bytes) => bytes?.length)).toEqual(parts.map(() => 4096));
      });
      expect([5, 6]).toContain(most);
    }
    vi.restoreAllMocks();
    await store.close();
    uninstall();
  });
});
