/** The records of real IndexedDB: the contents of moves, the few requests of a commit, and malformed records. */
import { expect, openStore, test, visit } from './contract-page.js';

test('a move gives up the segment that it carries and stays', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'carried');
  const records = (store: string) =>
    page.evaluate(
      (store) =>
        new Promise<number>((resolve) => {
          const opening = indexedDB.open('hedgerow/carried');
          opening.onsuccess = () => {
            const count = opening.result.transaction(store).objectStore(store).count();
            count.onsuccess = () => {
              opening.result.close();
              resolve(count.result);
            };
          };
        }),
      store,
    );
  // Small enough to be carried: there are only the moves and the counter.
  for (const id of [1, 2, 3]) await page.evaluate((id) => window.commit(id), id);
  const counter = await records('refs');
  expect(await records('segments')).toBe(0);
  const seen = () =>
    page.evaluate(async () => {
      const { refs, tables } = await window.store.load();
      return [refs[0]?.generation, tables.map(({ id }) => id)];
    });
  expect(await seen()).toEqual([3, [1, 2, 3]]);
  await page.evaluate(() => window.store.delete([1]));
  expect(await seen()).toEqual([3, [2, 3]]);
  await page.evaluate(() => window.store.delete([2, 3]));
  expect(await seen()).toEqual([3, []]);
  expect(await page.evaluate(() => window.store.read([3]))).toEqual([undefined]);
  // The last moves stay when their segments go.
  await page.evaluate(() => window.commit(4));
  expect(await seen()).toEqual([4, [4]]);
  expect(await records('refs')).toBe(counter + 1);
  // Earlier ones go with their segments, and then empty moves go as well.
  await page.evaluate(async () => {
    for (let id = 5; id <= 20; id++) await window.commit(id);
    await window.store.delete([4, 5, 20]);
  });
  const last = Array.from({ length: 14 }, (_, at) => 6 + at);
  expect(await seen()).toEqual([20, last]);
  expect(await records('refs')).toBe(counter - 3 + last.length + 1);
});

test('moves without segments are bounded without any deletion', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'bounded');
  const most = await page.evaluate(async () => {
    let most = 0;
    for (let id = 1; id <= 100; id++) {
      await window.commit(id, 60_000);
      const opening = indexedDB.open('hedgerow/bounded');
      const db = await new Promise<IDBDatabase>((resolve) => {
        opening.onsuccess = () => resolve(opening.result);
      });
      const count = db.transaction('refs').objectStore('refs').count();
      await new Promise((resolve) => {
        count.onsuccess = resolve;
      });
      most = Math.max(most, count.result);
      db.close();
    }
    return most;
  });
  expect(most).toBeGreaterThan(8);
  expect(most).toBeLessThanOrEqual(8 + 16);
});

test('a small commit is two requests, whatever came before', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'requests');
  const requests = await page.evaluate(async () => {
    const names = ['get', 'getAllKeys', 'put', 'delete'] as const;
    let made: string[] = [];
    for (const name of names) {
      const original = IDBObjectStore.prototype[name] as (...args: unknown[]) => IDBRequest;
      Object.assign(IDBObjectStore.prototype, {
        [name](...args: unknown[]) {
          made.push(name);
          return original.apply(this, args);
        },
      });
    }
    const found: string[] = [];
    for (let id = 1; id <= 32; id++) {
      made = [];
      await window.commit(id, id % 2 === 0 ? 1000 : 60_000);
      found.push(made.join());
    }
    return found;
  });
  for (const [at, made] of requests.entries()) {
    const id = at + 1;
    const own = id % 2 === 0 ? 'getAllKeys,put' : 'getAllKeys,put,put,put';
    if (id % 16 !== 0) expect(made, `commit ${id}`).toBe(own);
  }
  // One in sixteen looks for moves to delete: of the moves 1 to 8 four carry no segment, of the moves up to 24 eight.
  expect(requests[15]).toBe(`getAllKeys,getAllKeys,put${',delete'.repeat(4)}`);
  expect(requests[31]).toBe(`getAllKeys,getAllKeys,put${',delete'.repeat(8)}`);
});

test('malformed records are typed errors', { tag: '@core' }, async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'malformed');
  await page.evaluate(() => window.commit(1));
  const put = (store: string, key: string | number | (string | number)[], value: unknown) =>
    page.evaluate(
      ([store, key, value]) =>
        new Promise<void>((resolve) => {
          const request = indexedDB.open('hedgerow/malformed');
          request.onsuccess = () => {
            const tx = request.result.transaction(store, 'readwrite');
            if (value === undefined) tx.objectStore(store).delete(key);
            else tx.objectStore(store).put(value, key);
            tx.oncomplete = () => {
              request.result.close();
              resolve();
            };
          };
        }),
      [store, key, value] as [string, string | number | (string | number)[], unknown],
    );
  const loadCode = () => page.evaluate(() => window.codeOf(window.store.load()));

  await put('segments', 9, 'text');
  expect(await page.evaluate(() => window.store.read([9]))).toEqual([undefined]);

  await put('tables', 1, { length: 3 });
  expect(await loadCode()).toBe('storage');
  await page.evaluate(() => window.store.delete([1]));
  expect(await loadCode()).toBeUndefined();

  await put('refs', 0, 'many');
  expect(await page.evaluate(() => window.codeOf(window.store.reserve()))).toBe('storage');
  for (const move of [null, 5, {}, new Uint8Array(35)]) {
    await put('refs', ['main', 1], move);
    expect(await loadCode()).toBe('storage');
  }
  await put('refs', ['main', 1], new Uint8Array(36));
  expect(await loadCode()).toBeUndefined();
  // A table longer than the record that carries it.
  await put('refs', ['main', 2, 7], new Uint8Array(100).fill(255, 36, 40));
  expect(await loadCode()).toBe('storage');
  await put('refs', ['main', 2, 7], new Uint8Array(100));
  expect(await loadCode()).toBeUndefined();
  for (const key of [['main', -1], ['main', 3, 'x'], [3, 3], ['main', 3, 3, 3], 'main']) {
    await put('refs', key, new Uint8Array(100));
    expect(await loadCode(), String(key)).toBe('storage');
    await put('refs', key, undefined);
  }
});
