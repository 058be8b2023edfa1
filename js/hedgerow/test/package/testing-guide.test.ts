// @vitest-environment happy-dom
/** The advice of `docs/testing-an-app.md` for tests of apps. */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { expect, test, vi } from 'vitest';
import { HedgerowError, idb, memory, open, rowType, type Storage, table } from '../../src/index.js';
import { live } from '../../src/live/index.js';
import { SOON } from '../support/models/store-model.js';

interface Issue {
  id: string;
  title: string;
  status: 'open' | 'closed';
}

const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byState: ['status'] } });
const openApp = (storage: Storage = idb()) => open('app', { storage, tables: { issues } });
const GATE: Issue = { id: '1', title: 'Gate', status: 'open' };

test('each storage in memory is a world of its own, and two handles of it act as two tabs', async () => {
  const storage = memory();
  const [one, two, other] = await Promise.all([
    openApp(storage),
    openApp(storage),
    openApp(memory()),
  ]);
  const list = live(two.issues.where({ status: 'open' }));
  list.subscribe(() => {});
  await one.issues.put(GATE);
  await vi.waitFor(() => expect(list.get().rows).toEqual([GATE]), SOON);
  expect(await other.issues.count()).toBe(0);
  expect(one.root).toBe(two.root);
  list.close();
  await Promise.all([one, two, other].map((db) => db.close()));
});

test('fake-indexeddb keeps a store until it is replaced', async () => {
  for (const expected of [0, 1]) {
    const db = await openApp();
    expect(await db.issues.count()).toBe(expected);
    await db.issues.put(GATE);
    await db.close();
  }
  globalThis.indexedDB = new IDBFactory();
  const db = await openApp();
  expect(await db.issues.count()).toBe(0);
  await db.close();
});

test('a live query calls its listener while timers are fake', async () => {
  vi.useFakeTimers();
  try {
    const db = await openApp(memory());
    const list = live(db.issues.where({ status: 'open' }));
    const called = new Promise<void>((resolve) => {
      list.subscribe(() => {
        if (list.get().rows.length === 1) resolve();
      });
    });
    await db.issues.put(GATE);
    await called;
    list.close();
    await db.close();
  } finally {
    vi.useRealTimers();
  }
});

/** A storage that is full after some writes, as in the guide. */
function fullAfter(writes: number, real: Storage): Storage {
  let left = writes;
  return {
    ...real,
    open: async (name, options) => {
      const store = await real.open(name, options);
      const write = store.write.bind(store);
      store.write = async (batch) => {
        left -= 1;
        if (left < 0) throw new HedgerowError('quota-exceeded', 'full, for a test');
        return write(batch);
      };
      return store;
    },
  };
}

test('a test can make a storage fail', async () => {
  const db = await openApp(fullAfter(1, memory()));
  await db.issues.put(GATE);
  await expect(db.issues.put({ ...GATE, id: '2' })).rejects.toMatchObject({
    code: 'quota-exceeded',
  });
  expect(await db.issues.get('1')).toEqual(GATE);
  await db.close();
});
