/**
 * The browser deletes an origin's data while a store is open, on a `Clear-Site-Data` header: the store is reported as
 * deleted, its calls are `closed`, and a new one can be made at once.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test as base, expect, type Page } from './fixtures.js';

/** The pages of the tests at an origin that a request of `/clear` clears. */
const test = base.extend<{ origin: string }>({
  origin: async ({ baseURL }, use) => {
    const server = createServer(async (request, response) => {
      if (request.url === '/clear') {
        response.writeHead(200, { 'clear-site-data': '"storage"', 'content-type': 'text/plain' });
        response.end('cleared');
        return;
      }
      const found = await fetch(new URL(String(request.url), baseURL));
      const type = found.headers.get('content-type') ?? 'text/plain';
      response.writeHead(found.status, { 'content-type': type });
      response.end(Buffer.from(await found.arrayBuffer()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

declare global {
  interface Window {
    /** How often a store was reported as deleted. */
    missed: number;
    /** The outcome of a load that was under way. */
    loaded: Promise<unknown>;
  }
}

async function visit(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/store.html`);
  await page.waitForFunction(() => window.countRecords !== undefined);
}

const codes = (page: Page) =>
  page.evaluate(() => {
    const { db } = window;
    const calls = [db.get('issue/000001'), db.count(), db.scan().toArray(), db.put('b', 1)];
    return Promise.all(calls.map(window.codeOf));
  });

for (const isBusy of [false, true]) {
  const when = isBusy ? 'a load is under way' : 'nothing is under way';
  test(`a store whose origin is cleared while ${when} is closed`, async ({
    persistentPage,
    origin,
  }) => {
    const { page } = persistentPage;
    await visit(page, origin);
    await page.evaluate(async () => {
      window.missed = 0;
      window.db = await window.hedgerow.open('cleared', {
        advanced: { onDeleted: () => window.missed++ },
      });
      await window.db.putMany(window.rows(20_000));
    });
    if (isBusy) {
      await page.evaluate(() => {
        const load = async () => {
          for (let round = 1; ; round++) await window.db.putMany(window.rows(20_000, round));
        };
        window.loaded = window.codeOf(load());
      });
    }
    expect(await page.evaluate(async () => (await fetch('/clear')).text())).toBe('cleared');
    if (isBusy) expect(await page.evaluate(() => window.loaded)).toBe('closed');
    // An idle store sees it at the latest when the page gets the focus.
    await expect
      .poll(() =>
        page.evaluate(() => {
          window.dispatchEvent(new Event('focus'));
          return window.missed;
        }),
      )
      .toBe(1);
    expect(await codes(page)).toEqual(Array(4).fill('closed'));

    const again = await page.evaluate(async () => {
      const missing = await window.codeOf(
        window.hedgerow.open('cleared', { advanced: { mustExist: true } }),
      );
      window.db = await window.hedgerow.open('cleared');
      const count = await window.db.count();
      await window.db.putMany(window.rows(2000));
      const { ok, rows } = await window.db.health.verify();
      return { missing, count, ok, rows, missed: window.missed };
    });
    expect(again).toEqual({
      missing: 'store',
      count: 0,
      ok: true,
      rows: 2000,
      missed: 1,
    });
    const after = await persistentPage.relaunch();
    await visit(after, origin);
    const rows = await after.evaluate(async () =>
      (await window.hedgerow.open('cleared', { advanced: { mustExist: true } })).count(),
    );
    expect(rows).toBe(2000);
  });
}
