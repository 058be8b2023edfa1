/** Remotes of other origins, from a page: a real S3 with the rules of CORS, and the reference server. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveRemote } from '@hedgerow/server';
import { memoryRemote } from 'hedgerow/sync';
import { parseHttpUrl, presign } from '../../js/hedgerow/src/sync/remote/adapters/presign.js';
import { remoteContract } from '../../js/hedgerow/test/support/contracts/remote-contract.js';
import { BUCKET, CREDENTIALS, startGateway } from '../../js/hedgerow/test/support/gateway.mjs';
import { expect, type Page, test } from './fixtures.js';

const ends: (() => Promise<unknown>)[] = [];
test.afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Notes what passes to `target`, such as `GET 200`, and can remove a header from the answers. */
async function watched(target: string, hidden = ''): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const { method = '', url: path, headers } = request;
    const passed = ask({ hostname, port, method, path, headers }, (answer) => {
      seen.push(`${method} ${answer.statusCode}`);
      delete answer.headers[hidden];
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

/** The rules in `docs/bucket.md`. */
const HEADERS = ['if-match', 'if-none-match', 'content-type', 'cache-control'];

/** Makes a bucket that pages may use. */
async function bucket(hidden?: string) {
  const gateway = await startGateway();
  ends.push(() => gateway.stop());
  const place = parseHttpUrl(`${gateway.endpoint}/${BUCKET}`);
  if (place === undefined) throw new Error(`no address: ${gateway.endpoint}`);
  const tags = (name: string, values: readonly string[]) =>
    values.map((value) => `<${name}>${value}</${name}>`).join('');
  const rule =
    tags('AllowedOrigin', ['*']) +
    tags('AllowedMethod', ['GET', 'PUT', 'DELETE']) +
    tags('AllowedHeader', HEADERS) +
    tags('ExposeHeader', ['ETag']);
  const body = `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`;
  const signed = { region: 'us-east-1', credentials: CREDENTIALS, atMs: Date.now(), expiresS: 60 };
  const url = await presign({ method: 'PUT', place, query: { cors: '' }, ...signed });
  const headers = { 'Content-MD5': createHash('md5').update(body).digest('base64') };
  expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(200);
  const { url: endpoint, seen } = await watched(gateway.endpoint, hidden);
  return { s3: { endpoint, bucket: BUCKET, pathStyle: true, credentials: CREDENTIALS }, seen };
}

async function visit(page: Page): Promise<Page> {
  await page.goto('/remote.html');
  await page.waitForFunction(() => window.remoteAt !== undefined);
  return page;
}

type Place = Parameters<typeof window.remoteAt>[0];

async function keepsContract(page: Page, place: Place): Promise<void> {
  for (const { name } of remoteContract) {
    await test.step(name, async () => {
      const failure = await page.evaluate(
        ([name, place]) => window.runRemoteContract(name, place).catch(String),
        [name, place] as const,
      );
      expect.soft(failure, name).toBeUndefined();
    });
  }
}

/** Reads a head, twice as a poll, and a range of an object. Returns what the store saw of that. */
async function reads(page: Page, place: Place, seen: string[]): Promise<readonly string[]> {
  const token = await page.evaluate(async (place) => {
    const remote = window.remoteAt(place);
    await remote.put(`p/${'0'.repeat(64)}`, new Uint8Array(100)).catch(() => {});
    const swap = await remote.swapHead('polled', undefined, Uint8Array.of(1));
    return swap.state === 'swapped' ? swap.token : swap.state;
  }, place);
  seen.length = 0;
  const found = await page.evaluate(
    async ([place, token]) => {
      const remote = window.remoteAt(place);
      const head = await remote.readHead('polled');
      const polls = [
        await remote.readHeadSince('polled', token),
        await remote.readHeadSince('polled', token),
      ];
      await remote.get(`p/${'0'.repeat(64)}`, { from: 10, to: 20 });
      return [head?.token === token, head?.bytes.length, ...polls];
    },
    [place, token] as const,
  );
  expect(found).toEqual([true, 1, 'unchanged', 'unchanged']);
  return seen;
}

test('a page keeps the contract with a bucket of S3', { tag: '@chromium' }, async ({ page }) => {
  const { s3 } = await bucket();
  await keepsContract(await visit(page), { s3: { ...s3, prefix: 'a b&/' } });
});

test('a page keeps the contract with the reference server', {
  tag: '@chromium',
}, async ({ page }) => {
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  ends.push(() => server.close());
  await keepsContract(await visit(page), { http: server.url });
});

test('reads of a bucket cost no preflight, and polls no body', { tag: '@chromium' }, async ({
  page,
}) => {
  const { s3, seen } = await bucket();
  const asked = await reads(await visit(page), { s3 }, seen);
  expect(asked).toEqual(['GET 200', 'GET 304', 'GET 304', 'GET 206']);
});

test('reads of the reference server cost no preflight, and polls no body', {
  tag: '@chromium',
}, async ({ page }) => {
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  ends.push(() => server.close());
  const { url, seen } = await watched(server.url);
  const asked = await reads(await visit(page), { http: url }, seen);
  // The name of this object is not its hash.
  expect(asked).toEqual(['GET 200', 'GET 304', 'GET 304', 'GET 404']);
});

test('the probe says that CORS hides ETags', { tag: '@chromium' }, async ({ page }) => {
  const open = await bucket();
  const hidden = await bucket('access-control-expose-headers');
  await visit(page);
  const verdicts = await page.evaluate(
    async ([open, hidden]) => [await window.probeAt(open), await window.probeAt(hidden)],
    [{ s3: open.s3 }, { s3: hidden.s3 }] as const,
  );
  expect(verdicts).toEqual([undefined, ['unsafe', expect.stringContaining('ExposeHeaders: ETag')]]);
});
