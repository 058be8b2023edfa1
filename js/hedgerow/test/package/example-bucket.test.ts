/** The endpoint of `examples/bucket`: the requests that it signs for each user, and the requests that it refuses. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { endpoint } from '../../../../examples/bucket/endpoint.mjs';
import { parseHttpUrl } from '../../src/sync/remote/adapters/presign.js';
import { s3Signer } from '../../src/sync/remote/adapters/s3.js';
import { hashedName, headName } from '../../src/sync/remote/index.js';

const ENDPOINT = 'https://s3.example';
const signer = s3Signer({
  endpoint: ENDPOINT,
  bucket: 'rooms',
  pathStyle: true,
  credentials: { accessKeyId: 'a', secretAccessKey: 's' },
});
let sign: (request: never) => Promise<string> = signer;
const MEMBERS = new Map([
  ['Bearer ann', { rooms: new Map([['7', 'writer']]) }],
  ['Bearer bea', { rooms: new Map([['7', 'reader']]) }],
  ['Bearer cem', { rooms: new Map([['7', 'owner']]) }],
]);

const server = createServer(
  endpoint({
    memberOf: ({ headers }) => MEMBERS.get(headers.authorization ?? ''),
    sign: (request) => sign(request),
  }),
);
let url = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Returns the answer of the endpoint. */
async function answer(body: unknown, who = 'ann', method = 'POST') {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${who}` },
    ...(method === 'POST' && { body: sent }),
  });
  return { status: response.status, text: await response.text() };
}

const PACK = hashedName('p', new Uint8Array(3));
const NAMES = [
  'hedgerow',
  PACK,
  hashedName('d', new Uint8Array(3)),
  'h/main',
  headName('Tägliches/..'),
];

it('signs each object of a room for its members, as their roles permit', async () => {
  for (const name of NAMES) {
    const key = `rooms/7/${name}`;
    for (const [method, who, status] of [
      ['GET', 'ann', 200],
      ['PUT', 'ann', 200],
      ['GET', 'bea', 200],
      ['PUT', 'bea', 403],
      ['GET', 'cem', 403],
      ['GET', 'dan', 401],
    ] as const) {
      const { status: found, text } = await answer({ method, key, query: {} }, who);
      expect([found, method, who, key]).toEqual([status, method, who, key]);
      const place = parseHttpUrl(text.split('?')[0]);
      expect(place?.path).toBe(status === 200 ? `/rooms/${key.replaceAll('%', '%25')}` : undefined);
    }
  }
  const past = await answer({ method: 'GET', key: 'rooms/7/h/main', query: { 'x-id': '0.5' } });
  expect(past).toMatchObject({ status: 200, text: expect.stringContaining('&x-id=0.5') });
});

it('refuses to sign all other requests', async () => {
  const keys = [
    `rooms/8/${PACK}`,
    `rooms/7/../8/${PACK}`,
    `rooms/7/%2e%2e/8/${PACK}`,
    `rooms/7//${PACK}`,
    `/rooms/7/${PACK}`,
    `a/rooms/7/${PACK}`,
    `rooms/7/${PACK}/x`,
    `rooms/7/${PACK}?acl`,
    'rooms/7/h/..',
    'rooms/7/h/%2e%2e%2f..',
    'rooms/7/h/~collection',
    `rooms/7/${headName('~collection')}`,
    `rooms/7/${headName('~probe-x')}`,
    'rooms/7/',
    'rooms/__proto__/hedgerow',
    'rooms/constructor/hedgerow',
    'rooms/7\n/hedgerow',
    'rooms/7/other',
    '',
    undefined,
    null,
    7,
    [`rooms/7/${PACK}`],
    { toString: 'x' },
  ];
  const method = 'GET';
  const key = `rooms/7/${PACK}`;
  const wanted: unknown[] = [
    ...keys.flatMap((key) => [
      { method, key, query: {} },
      { method: 'PUT', key, query: {} },
    ]),
    ...['DELETE', 'POST', 'HEAD', 'get', '', undefined, ['GET'], 'constructor'].map((method) => ({
      ...{ method, key, query: {} },
    })),
    // A list of the bucket, and other operations that S3 selects by the query.
    { method, query: { 'list-type': '2', prefix: 'rooms/7/p/' } },
    ...['acl', 'versionId', 'uploads', 'response-content-type', 'X-Amz-Expires'].map((name) => ({
      ...{ method, key, query: { [name]: '' } },
    })),
    { method, key, query: { 'x-id': 'x'.repeat(40) } },
    { method, key, query: { 'x-id': ['1'] } },
    { method, key, query: 'x-id' },
    ...['', 'x', 'null', '[]', '"', `{"key":"${'x'.repeat(5000)}"}`],
  ];
  for (const one of wanted) {
    const shown = typeof one === 'string' ? one.slice(0, 20) : JSON.stringify(one);
    expect([shown, await answer(one)]).toEqual([shown, { status: 403, text: '' }]);
  }
  expect(await answer(undefined, 'ann', 'GET')).toEqual({ status: 405, text: '' });
});

it('answers 500 when it cannot sign', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  sign = async () => {
    throw new TypeError('no keys');
  };
  const { status } = await answer({ method: 'GET', key: 'rooms/7/hedgerow', query: {} });
  expect(status).toBe(500);
  expect(error).toHaveBeenCalledTimes(1);
  error.mockRestore();
  sign = signer;
});

it('has the bucket rules of the guide', () => {
  const read = (path: string) =>
    readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
  const blocks = [...read('docs/bucket.md').matchAll(/^```json\n([\s\S]*?)^```/gm)];
  const shown = blocks.map(([, text = '']) => JSON.parse(text));
  const files = ['cors.json', 'policy.json'].map((name) =>
    JSON.parse(read(`examples/bucket/${name}`)),
  );
  expect(shown).toEqual(files);
});
