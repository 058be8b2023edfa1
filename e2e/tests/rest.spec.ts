/** A store in each engine and a server of plain rows of another origin: waiting changes outlive the browser. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RestDouble } from '../../js/hedgerow/test/support/doubles/rest-server.js';
import { expect, type Page, test } from './fixtures.js';

declare global {
  interface Window {
    bound: {
      readonly db: Awaited<ReturnType<typeof window.openStore>>;
      readonly server: Awaited<ReturnType<typeof window.restAt>>;
    };
  }
}

/** Serves the double over HTTP. While it is down, it cuts each connection. */
async function serve(double: RestDouble) {
  const state = { isDown: false, url: '' };
  const server = createServer((request, response) => {
    if (state.isDown) {
      request.socket.destroy();
      return;
    }
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type');
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', async () => {
      const asked = JSON.parse(body);
      if (request.url === '/push') {
        const answer = double.push(asked);
        return response.writeHead(answer.status).end(await answer.text());
      }
      const pulled = double.pull(asked);
      return pulled ? response.end(JSON.stringify(pulled)) : response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { state, close };
}

async function bind(page: Page, url: string): Promise<void> {
  await page.goto('/remote.html');
  await page.waitForFunction(() => window.restAt !== undefined);
  await page.evaluate(async (at: string) => {
    const db = await window.openStore('plain');
    window.bound = { db, server: await window.restAt(db, at) };
  }, url);
}

test('changes that wait for a server outlive the browser, and are merged with its own', async ({
  persistentPage,
}) => {
  const double = new RestDouble();
  double.set({ a: { title: 'one', state: 'open' }, b: { title: 'two', state: 'open' } });
  const { state, close } = await serve(double);
  try {
    await bind(persistentPage.page, state.url);
    const first = await persistentPage.page.evaluate(async () => {
      const { rows } = await window.bound.server.pull();
      return rows;
    });
    expect(first).toBe(2);
    state.isDown = true;
    const offline = await persistentPage.page.evaluate(async () => {
      const { db, server } = window.bound;
      await db.put('a', { title: 'mine', state: 'open' });
      await db.delete('b');
      return server.push().catch(({ code }: { code: string; detail?: string }) => code);
    });
    expect(offline).toBe('offline');
    await persistentPage.relaunch();
    await bind(persistentPage.page, state.url);
    const waiting = await persistentPage.page.evaluate(async () => {
      const keys: string[] = [];
      for await (const { op, key } of window.bound.server.changes()) keys.push(`${op} ${key}`);
      return keys;
    });
    expect(waiting).toEqual(['put a', 'delete b']);
    double.set({ a: { title: 'one', state: 'closed' } });
    state.isDown = false;
    await persistentPage.page.evaluate(() => {
      window.bound.server.start();
    });
    const merged = { a: { title: 'mine', state: 'closed' } };
    await expect.poll(() => double.rows, { timeout: 30_000 }).toEqual(merged);
    // Another tab's commits go, too: one of them speaks for both.
    const other = await persistentPage.context.newPage();
    await bind(other as Page, state.url);
    await other.evaluate(async () => {
      await window.bound.db.put('c', { title: 'three' });
    });
    await expect
      .poll(() => double.rows, { timeout: 30_000 })
      .toEqual({ ...merged, c: { title: 'three' } });
    const found = await persistentPage.page.evaluate(async () => {
      const { db, server } = window.bound;
      const rows: Record<string, unknown> = {};
      for await (const [key, value] of db.scan()) rows[key] = value;
      await server.close();
      const { faults } = await db.health.verify();
      await db.close();
      return { rows, faults };
    });
    expect(found).toEqual({ rows: double.rows, faults: [] });
  } finally {
    await close();
  }
});
