/**
 * Features that the platform may lack: without each of them, the store does as docs/browsers.md says.
 * `start-up.test.ts` has the features that every store needs.
 */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { report } from '../../src/base/call-callback-safely.js';
import { idb, memory, open, type Store } from '../../src/index.js';
import { SOON } from '../support/models/store-model.js';

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Loads, reads, changes, compacts and opens a store again. */
async function used(options: Parameters<typeof open>[1]): Promise<Store> {
  const rows = Array.from({ length: 3000 }, (_, at) => [`row/${10_000 + at}`, { at }] as const);
  const first = await open('store', options);
  await first.putMany(rows.map(([key, value]): [string, unknown] => [key, value]));
  for (let at = 0; at < 20; at++) await first.put('row/10007', { at: -at });
  await first.transaction(async (tx) => {
    await tx.delete('row/10008');
  });
  await first.health.compact();
  await first.close();
  const db = await open('store', options);
  expect(await db.count()).toBe(2999);
  expect(await db.get('row/10007')).toEqual({ at: -19 });
  const scan = db.scan()[Symbol.asyncIterator]();
  expect((await scan.next()).value).toEqual(['row/10000', { at: 0 }]);
  expect(await db.health.verify()).toMatchObject({ ok: true });
  return db;
}

const NOT_NEEDED = [
  'BroadcastChannel',
  'FinalizationRegistry',
  'MessageChannel',
  'navigator',
  'reportError',
  'requestIdleCallback',
  'setImmediate',
];

for (const name of NOT_NEEDED) {
  it(`without ${name} a store works`, async () => {
    vi.stubGlobal(name, undefined);
    vi.resetModules();
    const db = await used({ storage: idb({ exclusive: true }) });
    expect(globalThis).toHaveProperty(name, undefined);
    await db.close();
  });
}

describe('without Web Locks', () => {
  beforeEach(() => vi.stubGlobal('navigator', {}));

  it('nothing is compacted in IndexedDB, and compact() says why', async () => {
    const db = await open('store', { storage: idb() });
    await db.put('a', 1);
    expect((await db.health.stats()).compactor).toBe('none');
    await expect(db.health.compact()).rejects.toMatchObject({
      code: 'blocked',
      message: expect.stringContaining('Web Locks'),
    });
    expect(await db.get('a')).toBe(1);
    await db.close();
  });

  it('a store that is declared exclusive is compacted', async () => {
    const db = await used({ storage: idb({ exclusive: true }) });
    expect((await db.health.stats()).compactor).toBe('this');
    await db.close();
  });
});

it('without BroadcastChannel another tab sees a commit when it gets the focus, or writes', async () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  if (typeof document === 'undefined') {
    const visible = { visibilityState: 'visible' as const };
    vi.stubGlobal('window', new EventTarget());
    vi.stubGlobal('document', Object.assign(new EventTarget(), visible));
  }
  const [one, other] = [await open('tabs', { storage: idb() }), await open('tabs')];
  await one.put('a', 1);
  expect(await other.get('a')).toBeUndefined();
  window.dispatchEvent(new Event('focus'));
  await vi.waitFor(async () => expect(await other.get('a')).toBe(1), SOON);
  await one.put('a', 2);
  expect(await other.get('a')).toBe(1);
  await other.put('b', 1);
  expect(await other.get('a')).toBe(2);
  await one.close();
  await other.close();
});

it('requestIdleCallback is asked where there is one, before a collection begins by itself', async () => {
  const asked = vi.fn((run: () => void) => void setTimeout(run));
  vi.stubGlobal('requestIdleCallback', asked);
  const db = await open('store', { storage: memory() });
  for (let at = 0; at < 300; at++) await db.put(`k${at % 50}`, at);
  await vi.waitFor(() => expect(asked).toHaveBeenCalled(), 20_000);
  await db.close();
});

describe('the durability of IndexedDB', () => {
  it('is asked for with each transaction', async () => {
    const asked = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const db = await open('store', { storage: idb() });
    await db.put('a', 1);
    const strict = { durability: 'strict' as const };
    await db.putMany([['b', 2]], strict);
    await db.close();
    const kinds = asked.mock.calls.map(([, , options]) => options?.durability);
    expect(kinds).toContain('relaxed');
    expect(kinds).toContain('strict');
  });

  it('that the browser does not know is told by stats, and strict writes are written all the same', async () => {
    const { prototype } = IDBTransaction;
    expect('durability' in prototype).toBe(false);
    const db = await open('store', { storage: idb(), durability: 'strict' });
    await db.put('a', 1);
    expect((await db.health.stats()).honoursStrict).toBe(false);
    await db.close();
    Object.defineProperty(prototype, 'durability', { writable: true, configurable: true });
    try {
      const again = await open('store', { storage: idb() });
      expect((await again.health.stats()).honoursStrict).toBe(true);
      expect(await again.get('a')).toBe(1);
      await again.close();
    } finally {
      Reflect.deleteProperty(prototype, 'durability');
    }
  });
});

describe('an error that no caller waits for', () => {
  it('goes to reportError, and to the console where there is none', () => {
    const console = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {});
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    report(1);
    expect(reported.mock.calls).toEqual([[1]]);
    expect(console).not.toHaveBeenCalled();
    vi.stubGlobal('reportError', undefined);
    report(2);
    expect(reported).toHaveBeenCalledOnce();
    expect(console.mock.calls).toEqual([[2]]);
  });
});
