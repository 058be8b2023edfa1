/** Connections to real IndexedDB that are lost. */

import { expect, openStore, test, visit } from './contract-page.js';
import type { Page } from './fixtures.js';

test.describe('a lost connection', () => {
  /** Makes `losing` of the transactions find their connection closed. */
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

  test('is disconnected after three openings, and recovers', async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'lost');
    await lose(page, 4);
    expect(await page.evaluate(() => window.codeOf(window.commit(1)))).toBe('disconnected');
    expect(await page.evaluate(() => window.commit(1))).toBe(true);
  });

  test('that cannot be opened again does not hang', { tag: '@chromium' }, async ({
    chromiumPage,
  }) => {
    const page = await visit(chromiumPage.page);
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

  test('loses no write when the browser drops connections', {
    tag: ['@chromium', '@core'],
  }, async ({ chromiumPage }) => {
    const page = await visit(chromiumPage.page);
    await openStore(page, 'dropped');
    await countOpenings(page);
    const writing = page.evaluate(async () => {
      const results = new Set<unknown>();
      let last = 0;
      while (window.openings < 5) results.add(await window.commit(++last, 60_000));
      const { refs, tables } = await window.store.load();
      return [[...results], refs[0]?.generation === last, tables.length === last];
    });
    // Chromium's own page for it. A committing transaction gets no event but `close`.
    const internals = await chromiumPage.context.newPage();
    await internals.goto('chrome://indexeddb-internals');
    const button = internals.locator('.force-close').first();
    for (let dropped = 0; dropped < 5; dropped++) {
      await button.click();
      // Waits for the reopening before the next drop: see `OPENING_LIMIT`.
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
