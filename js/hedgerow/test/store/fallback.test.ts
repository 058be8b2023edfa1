/** Storage that cannot be opened: a store may use the fallback instead, and never silently. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ErrorKind, HedgerowError } from '../../src/base/errors.js';
import { type Health, open } from '../../src/index.js';
import { memory } from '../../src/storage/memory.js';
import { faulty } from '../support/doubles/faulty-storage.js';
import { failure, SOON } from '../support/models/store-model.js';

const CODES: readonly ErrorKind[] = [
  'aborted',
  'blocked',
  'closed',
  'conflict',
  'corrupt-chunk',
  'unavailable/disconnected',
  'invalid-argument',
  'missing-chunk',
  'unavailable/not-loaded',
  'out-of-memory',
  'quota-exceeded',
  'unavailable/storage',
  'not-found/store',
  'newer-version/format',
];
const UNSUPPORTED = new HedgerowError('unsupported', 'for a test');

/** Storage whose first call of a kind fails. */
const failing = (call: 'open' | 'load', error: unknown) =>
  faulty(memory(), { call, at: 1, lasting: true, when: 'before', error });

/** `indexedDB` whose openings end as `end` says. */
function stubOpening(end: (request: Record<string, unknown>) => void): void {
  class Request extends EventTarget {}
  // Names that the package `idb` looks up.
  for (const name of ['IDBDatabase', 'IDBObjectStore', 'IDBIndex', 'IDBCursor', 'IDBTransaction']) {
    vi.stubGlobal(name, class {});
  }
  vi.stubGlobal('IDBRequest', Request);
  vi.stubGlobal('indexedDB', {
    open() {
      const request = new Request() as unknown as Record<string, unknown>;
      end(request);
      return request;
    },
  });
}

const throwing = (name: string) => () => {
  throw new DOMException('for a test', name);
};
const erring =
  (name: string, text = 'for a test') =>
  (request: Record<string, unknown>) => {
    request.error = new DOMException(text, name);
    queueMicrotask(() => (request as unknown as EventTarget).dispatchEvent(new Event('error')));
  };
const DENIED = 'The user denied permission to access the database.';

afterEach(() => vi.unstubAllGlobals());

describe('the fallback of open', () => {
  it('is used without IndexedDB, and reports that', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const db = await open('a', { advanced: { fallback: memory() } });
    await db.put('a', 1);
    expect(await db.get('a')).toBe(1);
    const health = await db.health.get();
    expect(health).toMatchObject({ state: 'ephemeral', isPersistent: false });
    expect(health.cause).toEqual(failure('unsupported'));
    expect(health.message).toMatch(/cannot be opened.*lost/);
    const listener = vi.fn<(health: Health) => void>();
    db.health.subscribe(listener);
    await vi.waitFor(() => expect(listener).toHaveBeenCalledOnce(), SOON);
    expect(listener.mock.calls[0]?.[0]).toEqual(health);
    expect(await db.health.persist()).toBe(false);
  });

  it('is not opened while the storage works', async () => {
    const [storage, fallback] = [memory(), faulty(memory())];
    const db = await open('a', { storage, advanced: { fallback } });
    expect((await db.health.get()).cause).toBeUndefined();
    expect(fallback.calls()).toBe(0);
  });

  it('is used for unsupported, and keeps its error', async () => {
    const db = await open('a', {
      storage: failing('open', UNSUPPORTED),
      advanced: { fallback: memory() },
    });
    expect(await db.health.get()).toMatchObject({ state: 'ephemeral', cause: UNSUPPORTED });
  });

  for (const code of CODES) {
    it(`is never used for ${code}: rows may exist`, async () => {
      const fallback = faulty(memory());
      const error = new HedgerowError(code, 'for a test');
      const opening = open('a', { storage: failing('open', error), advanced: { fallback } });
      await expect(opening).rejects.toBe(error);
      expect(fallback.calls()).toBe(0);
    });
  }

  it('is not used for failures after the storage has opened', async () => {
    const fallback = faulty(memory());
    const opening = open('a', { storage: failing('load', UNSUPPORTED), advanced: { fallback } });
    await expect(opening).rejects.toBe(UNSUPPORTED);
    expect(fallback.calls()).toBe(0);
  });

  it('that fails, too, rejects with the error of the storage', async () => {
    const storage = failing('open', UNSUPPORTED);
    const fallback = failing('open', new HedgerowError('unavailable/storage', 'of the fallback'));
    await expect(open('a', { storage, advanced: { fallback } })).rejects.toBe(UNSUPPORTED);
    const missing = open('a', { storage, advanced: { fallback: memory(), mustExist: true } });
    await expect(missing).rejects.toBe(UNSUPPORTED);
  });

  it('keeps the other options', async () => {
    const onDeleted = vi.fn();
    vi.stubGlobal('indexedDB', undefined);
    const fallback = memory();
    const indexes = { s: { path: '/s' } };
    const db = await open('a', { advanced: { fallback, onDeleted }, indexes });
    await db.put('a', { s: 1 });
    expect(await db.count({ index: 's', equals: 1 })).toBe(1);
    await fallback.destroy('a');
    await vi.waitFor(() => expect(onDeleted).toHaveBeenCalledOnce(), SOON);
  });

  it('must be storage', async () => {
    const opening = open('a', { advanced: { fallback: 'memory' as never } });
    await expect(opening).rejects.toEqual(failure('invalid-argument'));
  });
});

describe('the answer of IndexedDB to an open', () => {
  for (const [what, end] of [
    ['SecurityError, thrown', throwing('SecurityError')],
    ['SecurityError, as an event', erring('SecurityError')],
    ['InvalidStateError, as Firefox does in private windows', erring('InvalidStateError')],
    ['UnknownError, as Chromium does in frames of other sites', erring('UnknownError', DENIED)],
  ] as const) {
    it(`${what}: the fallback is used, with the cause`, async () => {
      stubOpening(end);
      await expect(open('a')).rejects.toEqual(failure('unsupported', { retryable: false }));
      const db = await open('a', { advanced: { fallback: memory() } });
      const { state, cause } = await db.health.get();
      expect([state, cause?.code]).toEqual(['ephemeral', 'unsupported']);
      expect(cause?.cause).toMatchObject({ name: what.split(',')[0] });
    });
  }

  for (const [name, code] of [
    ['QuotaExceededError', 'quota-exceeded'],
    ['VersionError', 'newer-version/format'],
    ['UnknownError', 'unavailable/storage'],
    ['AbortError', 'unavailable/disconnected'],
    ['DataError', 'unavailable/storage'],
  ] as const) {
    it(`${name}: rows may exist, and the call rejects with ${code}`, async () => {
      stubOpening(erring(name));
      const fallback = faulty(memory());
      await expect(open('a', { advanced: { fallback } })).rejects.toEqual(
        failure(code as ErrorKind),
      );
      expect(fallback.calls()).toBe(0);
    });
  }
});
