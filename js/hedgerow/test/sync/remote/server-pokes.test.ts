/** News of a server by `fetch`: with a token, after the end of the stream, and from a server that sends no stream. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { serveRemote } from '../../../../server/src/serve-remote.js';
import { httpRemote, memoryRemote, serverPokes } from '../../../src/sync/remote/index.js';
import { ofKind } from '../../support/error-kind.js';
import { device } from '../../support/worlds/sync-devices.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const end of ends.splice(0).reverse()) await end();
});

/** Follows the news of a server until the test ends; `count` is the number of pokes so far. */
function followed(url: string, token?: Parameters<typeof serverPokes>[1]) {
  const poked = { count: 0 };
  const stop = serverPokes(
    url,
    token,
  )(() => {
    poked.count += 1;
  });
  ends.push(stop);
  return Object.assign(poked, { stop });
}

/** A server whose event streams the test writes. */
async function streams(answer: (request: IncomingMessage, response: ServerResponse) => boolean) {
  const open: ServerResponse[] = [];
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    if (!answer(request, response)) return;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': open\n\n');
    open.push(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, open, asked };
}

it('reports a push at a server that needs a token', async () => {
  const token = 'a secret';
  const server = await serveRemote(memoryRemote(), { token });
  ends.push(() => server.close());
  const { db, link } = await device(httpRemote({ url: server.url, token }));
  const [right, late, without] = [
    followed(server.url, { token }),
    followed(server.url, { token: async () => token }),
    followed(server.url),
  ];
  let nth = 0;
  await expect
    .poll(async () => {
      await db.put('row', nth++);
      await link.push();
      return right.count > 0 && late.count > 0;
    })
    .toBe(true);
  expect(without.count).toBe(0);
});

it('asks for the token again after a refusal, and pokes when the stream is open at last', async () => {
  const { url, asked } = await streams(({ headers }, response) => {
    if (headers.authorization === 'Bearer 2') return true;
    response.writeHead(401).end();
    return false;
  });
  let nth = 0;
  const token = () => String(++nth);
  const poked = followed(url, { token });
  await expect.poll(() => poked.count).toBe(1);
  expect(asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/events', 'Bearer 1'],
    ['/events', 'Bearer 2'],
  ]);
});

it('connects again when the stream ends, and pokes, since news may have come in between', async () => {
  const { url, open } = await streams(() => true);
  const poked = followed(`${url}/`);
  await expect.poll(() => open.length).toBe(1);
  open[0]?.end();
  await expect.poll(() => open.length).toBe(2);
  await expect.poll(() => poked.count).toBe(1);
  open[1]?.write('data: {}\n\n');
  await expect.poll(() => poked.count).toBe(2);
});

it('hears an event in parts, and ignores all other lines', async () => {
  const { url, open } = await streams(() => true);
  const poked = followed(url);
  await expect.poll(() => open.length).toBe(1);
  const [stream] = open;
  stream?.write(': data: 1\n\nevent: x\nid: data:\n\n');
  stream?.write('da');
  await expect.poll(() => poked.count).toBe(0);
  stream?.write('ta: 1\r\n\r\n');
  await expect.poll(() => poked.count).toBe(1);
  // It does not keep a line without an end.
  for (let nth = 0; nth < 8; nth++) stream?.write('x'.repeat(1 << 20));
  stream?.write('\ndata: 2\ndata: more of it\n\n');
  await expect.poll(() => poked.count).toBe(3);
});

it('does not take a page of HTML for a stream', async () => {
  const { url, asked } = await streams((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('data: 1\n\n');
    return false;
  });
  const poked = followed(url);
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  expect(poked.count).toBe(0);
});

it('ends by the function that it returns: the stream, a wait, and a token on its way', async () => {
  const { url, open, asked } = await streams(() => true);
  const poked = followed(url);
  await expect.poll(() => open.length).toBe(1);
  const [stream] = open as [ServerResponse];
  const closed = once(stream, 'close');
  poked.stop();
  await closed;
  let give = (_token: string) => {};
  const token = new Promise<string>((resolve) => {
    give = resolve;
  });
  const waiting = followed(url, { token: () => token });
  waiting.stop();
  give('late');
  await token;
  const other = followed(url);
  await expect.poll(() => asked.length).toBe(2);
  expect(asked[1]?.headers.authorization).toBeUndefined();
  expect([poked.count, waiting.count, other.count]).toEqual([0, 0, 0]);
});

it('considers a stream dead after a silent minute, and connects again', async () => {
  vi.useFakeTimers();
  const headers = { 'Content-Type': 'text/event-stream' };
  const fetched = vi.fn(async (_url: string, { signal }: { signal: AbortSignal }) => {
    const start = (stream: ReadableStreamDefaultController) =>
      signal.addEventListener('abort', () => stream.error(signal.reason));
    return new Response(new ReadableStream({ start }), { headers });
  });
  vi.stubGlobal('fetch', fetched);
  const poked = followed('/api');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(fetched).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(3000);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(poked.count).toBe(1);
});

it('throws for malformed arguments, and for answers without streams', () => {
  const invalid = expect.objectContaining(ofKind('invalid-argument'));
  expect(() => serverPokes(7 as never)).toThrow(invalid);
  expect(() => serverPokes('/', { token: 7 as never })).toThrow(invalid);
  expect(() => serverPokes('/', { tokens: 'x' } as never)).toThrow(invalid);
  vi.stubGlobal('ReadableStream', undefined);
  expect(() => serverPokes('/')).toThrow(expect.objectContaining({ code: 'unsupported' }));
});
