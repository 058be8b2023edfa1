// @vitest-environment jsdom
/** jsdom, in which many apps run their tests: its `Blob` is no stream, and its IndexedDB belongs to another realm. */
import 'fake-indexeddb/auto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sqlite } from '../../../sqlite/src/index.js';
import { destroy, idb, memory, missingFeatures, open } from '../../src/index.js';

it('a store runs in jsdom, where a Blob is no stream', async () => {
  expect(window.document.body).toBeDefined();
  expect('stream' in Blob.prototype).toBe(false);
  expect(await missingFeatures()).toEqual([]);
  const db = await open('in memory', { storage: memory() });
  await db.putMany([
    ['a', 1],
    ['b', 2],
  ]);
  expect(await db.scan().toArray()).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  await db.close();
});

it('IndexedDB returns bytes of another realm', async () => {
  const foreign = await new Promise<unknown>((resolve) => {
    const opening = indexedDB.open('bytes');
    opening.onupgradeneeded = () => opening.result.createObjectStore('s').put(new Uint8Array(3), 1);
    opening.onsuccess = () => {
      const request = opening.result.transaction('s').objectStore('s').get(1);
      request.onsuccess = () => resolve(request.result);
    };
  });
  expect(ArrayBuffer.isView(foreign)).toBe(true);
  expect(foreign instanceof Uint8Array).toBe(false);
  const storage = { ...idb(), isShared: false };
  const rows = Array.from({ length: 2000 }, (_, id) => [`row/${id}`, { id, text: 'x'.repeat(99) }]);
  const first = await open('kept', { storage });
  await first.putMany(rows as [string, unknown][]);
  await first.put('single', 1);
  const { root } = first;
  await first.close();
  const again = await open('kept', { storage });
  expect(again.root).toBe(root);
  expect(await again.count()).toBe(2001);
  expect(await again.get('row/77')).toEqual({ id: 77, text: 'x'.repeat(99) });
  await again.deleteMany({ prefix: 'row/' });
  await again.health.compact();
  expect((await again.health.verify()).faults).toEqual([]);
  expect(await again.scan().toArray()).toEqual([['single', 1]]);
  await again.close();
  await destroy('kept', { storage });
});

it('SQLite returns bytes of another realm', async () => {
  const location = await mkdtemp(join(tmpdir(), 'hedgerow-jsdom-'));
  const storage = sqlite({ location });
  const first = await open('kept', { storage });
  await first.putMany([['a', 1]]);
  await first.close();
  const again = await open('kept', { storage });
  expect(await again.get('a')).toBe(1);
  await again.close();
  await rm(location, { recursive: true });
});
