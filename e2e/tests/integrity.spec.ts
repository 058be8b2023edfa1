/** Verification and repair on real IndexedDB; stores that vanish, and lost connections. */
import { expect, type Page, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

declare global {
  interface Window {
    /** How often a store was reported as missing, or a database was opened. */
    told: number;
  }
}

/** Opens a store into `window.db`, and counts in `window.told` how often it is missing. */
function openWatching(page: Page, name: string): Promise<void> {
  return page.evaluate(async (name) => {
    window.told = 0;
    window.db = await window.hedgerow.open(name, { advanced: { onDeleted: () => window.told++ } });
  }, name);
}

/** Damages the first large stored segment, in the middle. */
function damageSegment(page: Page, name: string): Promise<void> {
  return page.evaluate((name) => {
    let left = 1;
    return window.editRecords(name, 'segments', (value) => {
      const bytes = value as Uint8Array;
      if (bytes.length > 100_000 && left-- > 0) bytes[50_000] = (bytes[50_000] ?? 0) ^ 1;
      return bytes;
    });
  }, name);
}

test('a damaged segment is found, reported with its keys, and salvaged', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'damaged');
  await page.evaluate(() => window.db.putMany(window.rows(20_000)));
  expect(await page.evaluate(() => window.db.health.verify())).toMatchObject({
    ok: true,
    rows: 20_000,
  });
  const before = await stateOf(page);
  await damageSegment(page, 'damaged');

  const found = await page.evaluate(() => window.db.health.verify());
  expect(found).toMatchObject({ ok: false, root: before.root, segmentFaults: [] });
  expect(found.faults).toHaveLength(1);
  const [fault] = found.faults;
  expect(fault).toMatchObject({ code: 'corrupt-chunk', kind: 'node', level: 0 });
  expect(found.rows + (fault?.rows ?? 0)).toBe(20_000);

  expect(await page.evaluate(() => window.codeOf(window.db.health.repair()))).toBe('corrupt-chunk');
  expect(await page.evaluate(() => window.db.root)).toBe(before.root);
  const done = await page.evaluate(() => window.db.health.repair({ salvage: true }));
  expect(done).toMatchObject({ commitsDropped: 0, lost: [fault?.range], rowsLost: fault?.rows });

  const after = await visit(await persistentPage.relaunch());
  expect(await openStore(after, 'damaged')).toBe(done.root);
  const read = await after.evaluate(async (range) => {
    const rows = await window.db.scan().toArray();
    return { rows: rows.length, lost: await window.db.count(range) };
  }, fault?.range ?? {});
  expect(read).toEqual({ rows: 20_000 - done.rowsLost, lost: 0 });
  expect(await after.evaluate(() => window.db.health.verify())).toMatchObject({ ok: true });
});

test('a store whose newest commit is damaged is brought back, and other tabs follow', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'back');
  await page.evaluate(() => window.db.putMany(window.rows(5000)));
  const good = await stateOf(page);
  await page.evaluate(async () => {
    await window.db.put('newer', 1);
    await window.db.put('newest', 1);
  });
  const other = await visit(await persistentPage.newPage());
  await openStore(other, 'back');
  // The journal has the contents of small commits.
  await page.evaluate(() =>
    window.editRecords('back', 'refs', (value, key) => {
      const bytes = value as Uint8Array;
      if (Array.isArray(key) && key.length === 3) bytes[bytes.length - 1]! ^= 1;
      return bytes;
    }),
  );
  const third = await visit(await persistentPage.newPage());
  const codes = await third.evaluate(() => window.codeOf(window.hedgerow.open('back')));
  expect(codes).toBe('corrupt-chunk');
  const done = await third.evaluate(() => window.hedgerow.repairStore('back'));
  expect(done).toMatchObject({ root: good.root, commitsDropped: 2, lost: [], rowsLost: 0 });
  for (const tab of [page, other]) {
    await expect.poll(() => tab.evaluate(() => window.db.root)).toBe(good.root);
    expect(await stateOf(tab)).toEqual(good);
  }
  await openStore(third, 'back');
  expect(await stateOf(third)).toEqual(good);
});

test('a store that does not exist is missing, and is not made', async ({
  persistentPage,
  engine,
}) => {
  const page = await visit(persistentPage.page);
  const missing = () =>
    page.evaluate(() =>
      Promise.all(
        [
          window.hedgerow.open('none', { advanced: { mustExist: true } }),
          window.hedgerow.verifyStore('none'),
          window.hedgerow.repairStore('none'),
        ].map(window.codeOf),
      ),
    );
  expect(await missing()).toEqual(['store', 'store', 'store']);
  const names = await page.evaluate(async () => (await indexedDB.databases()).map((d) => d.name));
  // WebKit lists a database whose making was undone.
  if (engine !== 'webkit') expect(names).not.toContain('hedgerow/none');
  await openStore(page, 'none');
  await page.evaluate(() => window.db.put('a', 1));
  await page.evaluate(async () => {
    window.db = await window.hedgerow.open('none', { advanced: { mustExist: true } });
  });
  expect(await page.evaluate(() => window.db.get('a'))).toBe(1);
});

test('a store that the user clears is reported as missing, then and at the next opening', {
  tag: '@chromium',
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  await openWatching(page, 'cleared');
  await page.evaluate(() => window.db.put('a', 1));
  const cdp = await chromiumPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  // Found when the page gets the focus, before any call is made.
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect.poll(() => page.evaluate(() => window.told)).toBe(1);
  const codes = () =>
    page.evaluate(() =>
      Promise.all([window.db.put('b', 1), window.db.health.verify()].map(window.codeOf)),
    );
  expect(await codes()).toEqual(['closed', 'closed']);
  expect(await page.evaluate(() => window.told)).toBe(1);
  const after = await visit(await chromiumPage.relaunch());
  const code = await after.evaluate(() =>
    window.codeOf(window.hedgerow.open('cleared', { advanced: { mustExist: true } })),
  );
  expect(code).toBe('store');
});

test('a store that another tab deletes is reported as missing', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openWatching(page, 'deleted');
  await page.evaluate(() => window.db.put('a', 1));
  const other = await visit(await persistentPage.newPage());
  await other.evaluate(() => window.hedgerow.destroy('deleted'));
  await expect.poll(() => page.evaluate(() => window.told)).toBe(1);
  expect(await page.evaluate(() => window.codeOf(window.db.put('b', 1)))).toBe('closed');
  // A store that was closed before is not reported.
  await openWatching(page, 'deleted');
  await page.evaluate(() => window.db.close());
  await other.evaluate(() => window.hedgerow.destroy('deleted'));
  expect(await page.evaluate(() => window.told)).toBe(0);
});

for (const event of ['focus', 'visibilitychange'] as const) {
  test(`at ${event} a lost connection is opened again, and missed news are seen`, {
    tag: '@chromium',
  }, async ({ chromiumPage }) => {
    const page = await visit(chromiumPage.page);
    await openStore(page, 'probed');
    await page.evaluate(() => window.db.put('a', 1));
    const other = await visit(await chromiumPage.newPage());
    // Its messages are lost.
    await other.evaluate(() => {
      BroadcastChannel.prototype.postMessage = () => {};
    });
    await openStore(other, 'probed');
    await page.evaluate(() => {
      window.told = 0;
      const { open } = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args);
        request.addEventListener('success', () => window.told++);
        return request;
      };
    });
    // Chromium's own page for it. All connections to the store are closed.
    const internals = await chromiumPage.context.newPage();
    await internals.goto('chrome://indexeddb-internals');
    await internals.locator('.force-close').first().click();
    await other.evaluate(() => window.db.put('b', 2));
    const root = await other.evaluate(() => window.db.root);
    expect(await page.evaluate(() => window.told)).toBe(0);

    await page.evaluate((event) => {
      const target = event === 'focus' ? window : document;
      Object.defineProperty(document, 'visibilityState', { value: 'visible' });
      target.dispatchEvent(new Event(event));
    }, event);
    await expect.poll(() => page.evaluate(() => window.told)).toBe(1);
    await expect.poll(() => page.evaluate(() => window.db.root)).toBe(root);
    expect(await page.evaluate(() => window.db.get('b'))).toBe(2);
  });
}

test('the quota, the usage and whether storage is persistent are reported', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'told');
  await page.evaluate(() => window.db.putMany(window.manyBytes(20)));
  const stats = await page.evaluate(() => window.db.health.stats());
  // WebKitGTK has no `navigator.storage`.
  if (await page.evaluate(() => navigator.storage === undefined)) {
    expect([stats.quotaBytes, stats.usageBytes]).toEqual([undefined, undefined]);
    return;
  }
  expect(stats.quotaBytes).toBeGreaterThan(10_000_000);
  expect(stats.usageBytes).toBeGreaterThan(1_000_000);
  expect(stats.isPersistent).toBe(false);
  const asked = await page.evaluate(async () => {
    let asked = 0;
    const { persist } = StorageManager.prototype;
    StorageManager.prototype.persist = function () {
      asked++;
      return persist.call(this);
    };
    const db = await window.hedgerow.open('told');
    // Firefox asks a user, and the test has no user: this call may never be answered.
    void db.health.persist();
    const { isPersistent } = await db.health.stats();
    // The browser's answer does not matter, even if it never comes.
    StorageManager.prototype.persist = () => new Promise(() => {});
    void db.health.persist();
    StorageManager.prototype.persist = () => Promise.reject(new TypeError('no'));
    await db.health.persist();
    await db.close();
    return { asked, persisted: await navigator.storage.persisted(), isPersistent };
  });
  expect(asked.asked).toBe(1);
  expect(typeof asked.isPersistent).toBe('boolean');
});
