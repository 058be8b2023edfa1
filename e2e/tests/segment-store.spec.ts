/** The storage contract on real IndexedDB, and faults that only a browser can cause. */
import { segmentStoreContract } from '../../js/hedgerow/test/support/contracts/segment-store-contract.js';
import { expect, openStore, test, visit } from './contract-page.js';

const MIB = 1 << 20;

test('IndexedDB keeps the whole contract', { tag: '@core' }, async ({ persistentPage }) => {
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

test('a full disk is quota-exceeded, and the store stays readable', {
  tag: ['@chromium', '@core'],
}, async ({ chromiumPage }) => {
  const page = await visit(chromiumPage.page);
  const cdp = await chromiumPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  // Before the first write: Chromium remembers the available room for a while.
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

test('another tab deletes an open store', async ({ persistentPage }) => {
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

test('a store whose data the user clears fails with closed', { tag: '@chromium' }, async ({
  chromiumPage,
}) => {
  const page = await visit(chromiumPage.page);
  await page.evaluate(async () => {
    window.openings = 0;
    const onGone = () => window.openings++;
    window.store = await window.idb().open('cleared', { onGone });
  });
  await page.evaluate(() => window.commit(1));
  const cdp = await chromiumPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  expect(await page.evaluate(() => window.codeOf(window.commit(2)))).toBe('closed');
  const names = await page.evaluate(async () => (await indexedDB.databases()).map((d) => d.name));
  expect(names).not.toContain('hedgerow/cleared');
  expect(await page.evaluate(() => window.codeOf(window.store.load()))).toBe('closed');
  expect(await page.evaluate(() => window.openings)).toBe(1);
});

test('a store is not taken for another of its name', { tag: '@chromium' }, async ({
  chromiumPage,
}) => {
  const page = await visit(chromiumPage.page);
  await openStore(page, 'again');
  await page.evaluate(() => window.commit(1));
  const cdp = await chromiumPage.context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
  // Made again before the first handle learns of it, and as far on as the old one was.
  const other = await visit(await chromiumPage.newPage());
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

test('a database of a newer version is newer-version/format', async ({ persistentPage }) => {
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
  expect(code).toBe('format');
});
