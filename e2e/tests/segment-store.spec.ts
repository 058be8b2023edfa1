/** The storage contract on real IndexedDB, and what only a browser can do to a store. */
import { segmentStoreContract } from '../../js/test/segment-store-contract.js';
import { expect, type Page, test } from './fixtures.js';

const PAGE = '/contract.html';
const MIB = 1 << 20;

const failures: Error[] = [];

/** Opens the page; unhandled rejections in it fail the test. */
async function visit(page: Page): Promise<Page> {
  page.on('pageerror', (error) => failures.push(error));
  await page.goto(PAGE);
  return page;
}

function openStore(page: Page, name: string): Promise<void> {
  return page.evaluate(async (name) => {
    window.store = await window.idb().open(name);
  }, name);
}

test.beforeEach(() => {
  failures.length = 0;
});

test.afterEach(() => {
  expect(failures).toEqual([]);
});

test('IndexedDB keeps the whole contract', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  for (const { name } of segmentStoreContract) {
    await test.step(name, async () => {
      const failure = await page.evaluate(
        (name) => window.runContract(name).catch((error: unknown) => String(error)),
        name,
      );
      expect.soft(failure, name).toBeUndefined();
    });
  }
});

test('a store is there after the browser was closed', async ({ persistentPage }) => {
  const before = await visit(persistentPage.page);
  await openStore(before, 'kept');
  expect(await before.evaluate(() => window.commit(1, 300_000))).toBe(true);
  expect(await before.evaluate(() => window.store.reserve())).toBe(1);

  const after = await visit(await persistentPage.relaunch());
  await openStore(after, 'kept');
  const found = await after.evaluate(async () => {
    const { refs, tables } = await window.store.load();
    const [bytes] = await window.store.read([1]);
    const intact = String(bytes) === String(window.noise(1, 300_000));
    return [refs[0]?.generation, tables.length, intact, await window.store.reserve()];
  });
  expect(found).toEqual([1, 1, true, 2]);
});

test('a full disk is quota-exceeded, and the store stays readable', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const cdp = await persistentPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  // Before the first write, after which Chromium remembers for a while how much room it saw.
  await cdp.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 8 * MIB });
  await openStore(page, 'full');
  const code = await page.evaluate(async () => {
    for (let id = 1; id < 30; id++) {
      const failed = await window.codeOf(window.commit(id, 1 << 20));
      if (failed !== undefined) return { code: failed, id };
    }
    return undefined;
  });
  expect(code?.code).toBe('quota-exceeded');

  const state = () =>
    page.evaluate(async () => {
      const { refs, tables } = await window.store.load();
      const found = await window.store.read(tables.map(({ id }) => id));
      const first = (bytes: Uint8Array | undefined) => String(bytes?.subarray(0, 100));
      const intact = tables.every(({ id }, i) => first(found[i]) === first(window.noise(id, 100)));
      return [refs[0]?.generation, tables.length, intact];
    });
  const last = (code?.id ?? 0) - 1;
  expect(await state()).toEqual([last, last, true]);

  await cdp.send('Storage.overrideQuotaForOrigin', { origin });
  expect(await page.evaluate((id) => window.commit(id, 1 << 20), last + 1)).toBe(true);
  expect(await state()).toEqual([last + 1, last + 1, true]);
});

test('another tab deletes a store that is open', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'shared');
  await page.evaluate(() => window.commit(1));
  const other = await visit(await persistentPage.newPage());
  await other.evaluate(() => window.idb().destroy('shared'));
  const codes = await page.evaluate(() =>
    Promise.all([window.store.load(), window.commit(2), window.store.reserve()].map(window.codeOf)),
  );
  expect(codes).toEqual(['closed', 'closed', 'closed']);
  await openStore(page, 'shared');
  expect(await page.evaluate(() => window.store.load())).toEqual({ refs: [], tables: [], ids: [] });
});

test('a store whose data the user clears fails with closed', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await page.evaluate(async () => {
    window.openings = 0;
    const onGone = () => window.openings++;
    window.store = await window.idb().open('cleared', { onGone });
  });
  await page.evaluate(() => window.commit(1));
  const cdp = await persistentPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  expect(await page.evaluate(() => window.codeOf(window.commit(2)))).toBe('closed');
  const names = await page.evaluate(async () => (await indexedDB.databases()).map((d) => d.name));
  expect(names).not.toContain('hedgerow/cleared');
  expect(await page.evaluate(() => window.codeOf(window.store.load()))).toBe('closed');
  expect(await page.evaluate(() => window.openings)).toBe(1);
});

test('a store is not taken for another of its name', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'again');
  await page.evaluate(() => window.commit(1));
  const cdp = await persistentPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  // Made anew before the first handle learns of it, and as far on as the old one was.
  const other = await visit(await persistentPage.newPage());
  await openStore(other, 'again');
  expect(await other.evaluate(() => window.commit(1))).toBe(true);
  const codes = await page.evaluate(() =>
    Promise.all([window.commit(2), window.store.load()].map(window.codeOf)),
  );
  expect(codes).toEqual(['closed', 'closed']);
  const found = await other.evaluate(async () => {
    const { refs, tables } = await window.store.load();
    return [refs[0]?.generation, tables.map(({ id }) => id)];
  });
  expect(found).toEqual([1, [1]]);
});

test('destroy is blocked by a connection that stays open', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'held');
  const codes = await page.evaluate(async () => {
    const raw = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('hedgerow/held');
      request.onsuccess = () => resolve(request.result);
    });
    const blocked = [
      await window.codeOf(window.idb().destroy('held')),
      await window.codeOf(window.store.load()),
    ];
    raw.close();
    return [...blocked, await window.codeOf(window.idb().destroy('held'))];
  });
  expect(codes).toEqual(['blocked', 'closed', undefined]);
});

test('a database of a newer version is unsupported-format', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const code = await page.evaluate(async () => {
    await new Promise<void>((resolve) => {
      const request = indexedDB.open('hedgerow/newer', 2);
      request.onsuccess = () => {
        request.result.close();
        resolve();
      };
    });
    return window.codeOf(window.idb().open('newer'));
  });
  expect(code).toBe('unsupported-format');
});

test.describe('a lost connection', () => {
  /** Lets `losing` of the transactions find their connection closed. */
  const lose = (page: Page, losing: number) =>
    page.evaluate((losing) => {
      const { transaction } = IDBDatabase.prototype;
      let left = losing;
      IDBDatabase.prototype.transaction = function (...args) {
        if (left-- > 0) this.close();
        return transaction.apply(this, args);
      };
    }, losing);

  const countOpenings = (page: Page) =>
    page.evaluate(() => {
      const { open } = IDBFactory.prototype;
      window.openings = 0;
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args);
        request.addEventListener('success', () => window.openings++);
        return request;
      };
    });

  const openings = (page: Page) => page.evaluate(() => window.openings);

  test('is opened again, once for all calls', async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'lost');
    await page.evaluate(() => window.commit(1));
    await lose(page, 2);
    await countOpenings(page);
    const result = await page.evaluate(async () => {
      const [read, written] = await Promise.all([window.store.read([1]), window.commit(2)]);
      return [read[0]?.length, written, window.openings, (await window.store.load()).tables.length];
    });
    expect(result).toEqual([1000, true, 1, 2]);
  });

  test('is disconnected after three openings, and not for ever', async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'lost');
    await lose(page, 4);
    expect(await page.evaluate(() => window.codeOf(window.commit(1)))).toBe('disconnected');
    expect(await page.evaluate(() => window.commit(1))).toBe(true);
  });

  test('that cannot be opened again does not hang', async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'silent');
    await page.clock.install();
    await lose(page, 1);
    const codes = page.evaluate(() => {
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = (name) => open.call(indexedDB, `${name}/answered unheard`);
      IDBOpenDBRequest.prototype.addEventListener = () => {};
      const calls = [window.commit(1), window.store.load(), window.idb().open('silent')];
      return Promise.all(calls.map(window.codeOf));
    });
    // The calls are made before the clock moves.
    await page.evaluate(() => undefined);
    await page.clock.fastForward(15_000);
    expect(await codes).toEqual(['disconnected', 'disconnected', 'blocked']);
  });

  test('loses no write when the browser drops connections', async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'dropped');
    await countOpenings(page);
    const writing = page.evaluate(async () => {
      const results = new Set<unknown>();
      let last = 0;
      while (window.openings < 5) results.add(await window.commit(++last, 60_000));
      const { refs, tables } = await window.store.load();
      return [[...results], refs[0]?.generation === last, tables.length === last];
    });
    // Chromium's own page for it. What was being committed gets no event but `close`.
    const internals = await persistentPage.context.newPage();
    await internals.goto('chrome://indexeddb-internals');
    const button = internals.locator('.force-close').first();
    for (let dropped = 0; dropped < 5; dropped++) {
      await button.click();
      // Not again before it is open: see `OPENING_LIMIT` for what comes of that.
      await expect.poll(() => openings(page)).toBe(dropped + 1);
    }
    expect(await writing).toEqual([[true], true, true]);
  });

  for (const committed of [true, false]) {
    const what = committed ? 'was committed' : 'was undone';
    test(`under a write that ${what} does not make it fail`, async ({ persistentPage }) => {
      const page = await visit(persistentPage.page);
      await openStore(page, 'lost');
      await page.evaluate(() => window.commit(1));
      await page.evaluate((committed) => {
        const { transaction } = IDBDatabase.prototype;
        IDBDatabase.prototype.transaction = function (...args) {
          IDBDatabase.prototype.transaction = transaction;
          const tx = transaction.apply(this, args);
          if (committed) {
            // Its answer is lost on the way.
            tx.addEventListener('complete', (event) => {
              event.stopImmediatePropagation();
              tx.dispatchEvent(new Event('abort'));
            });
          } else {
            queueMicrotask(() => tx.abort());
          }
          return tx;
        };
      }, committed);
      const state = await page.evaluate(async () => {
        const written = await window.commit(2);
        const { refs, tables } = await window.store.load();
        return [written, refs[0]?.generation, tables.map(({ id }) => id)];
      });
      expect(state).toEqual([true, 2, [1, 2]]);
    });
  }
});

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
  // Small enough to be carried: the moves and the counter are all there is.
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
  // The last moves stay when what they carry goes.
  await page.evaluate(() => window.commit(4));
  expect(await seen()).toEqual([4, [4]]);
  expect(await records('refs')).toBe(counter + 1);
  // Those before them go with it, and what carries nothing goes then as well.
  await page.evaluate(async () => {
    for (let id = 5; id <= 20; id++) await window.commit(id);
    await window.store.delete([4, 5, 20]);
  });
  const last = Array.from({ length: 14 }, (_, at) => 6 + at);
  expect(await seen()).toEqual([20, last]);
  expect(await records('refs')).toBe(counter - 3 + last.length + 1);
});

test('moves that carry nothing are bounded without any deletion', async ({ persistentPage }) => {
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

test('a small commit is two requests, whatever was before', async ({ persistentPage }) => {
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
  // One in sixteen looks for what is no longer kept: of the moves 1 to 8 four carry nothing, of
  // those up to 24 eight.
  expect(requests[15]).toBe(`getAllKeys,getAllKeys,put${',delete'.repeat(4)}`);
  expect(requests[31]).toBe(`getAllKeys,getAllKeys,put${',delete'.repeat(8)}`);
});

test('malformed records are typed errors', async ({ persistentPage }) => {
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
