/** Cut reads go on at the cut: the adapters of the web, over real connections. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { sameBytes } from '../../../src/base/bytes.js';
import { s3Remote } from '../../../src/sync/remote/adapters/s3.js';
import { hashedName, httpRemote, type Remote } from '../../../src/sync/remote/index.js';
import { random } from '../../support/random.js';

const OBJECT = random(1).bytes(300_000);
const NAME = hashedName('p', OBJECT);
const LENGTH = OBJECT.length;
/** Quicker than `toEqual`. */
const isObject = (bytes: Uint8Array | undefined) => bytes && sameBytes(bytes, OBJECT);

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = (response: ServerResponse, range: string | undefined, nth: number) => void;

/** A server that answers the nth request by a function, and the requested ranges. */
async function serving(answer: Answer) {
  const ranges: (string | undefined)[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    ranges.push(request.headers.range);
    answer(response, request.headers.range, ranges.length);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { ranges, url, remote: httpRemote({ url }) };
}

/** Sends the first `count` bytes of a body, and cuts the connection. */
function cut(response: ServerResponse, body: Uint8Array, count: number): void {
  const part = body.subarray(0, count);
  if (part.length === 0) response.flushHeaders();
  response.write(part, () => setTimeout(() => response.destroy(), 10));
}

/** The same answer; calls `then` when its reader asks for more after so many bytes. */
function after(count: number, answer: Response, then: () => void): Response {
  const reader = answer.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let taken = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (taken === count) then();
    const { value, done } = await reader.read();
    if (done) return controller.close();
    taken += value.length;
    controller.enqueue(value);
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), answer);
}

const fromOf = (range: string | undefined) => Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);

/** Returns the rest of the object from the range on; the whole object without a range. */
function head(
  response: ServerResponse,
  range: string | undefined,
  total: number | string = LENGTH,
) {
  const from = fromOf(range);
  const body = OBJECT.subarray(from);
  response.writeHead(range === undefined ? 200 : 206, {
    'Content-Length': body.length,
    ...(range !== undefined && { 'Content-Range': `bytes ${from}-${LENGTH - 1}/${total}` }),
  });
  return body;
}

describe('an answer that is cut off', () => {
  it.each([
    ['http', (url: string) => httpRemote({ url })],
    ['s3', (url: string) => s3Remote({ sign: ({ key }) => `${url}${key}` })],
  ])('goes on where it was cut, by %s', async (_, make) => {
    const { ranges, url } = await serving((response, range, nth) => {
      const body = head(response, range);
      if (nth < 4) return cut(response, body, 50_000);
      response.end(body);
    });
    expect(isObject(await make(url).get(NAME))).toBe(true);
    expect(ranges).toEqual([undefined, 'bytes=50000-', 'bytes=100000-', 'bytes=150000-']);
  });

  it('goes on to the end of its range if it is a range', async () => {
    const { ranges, remote } = await serving((response, range, nth) => {
      const body = OBJECT.subarray(fromOf(range), 200_000);
      response.writeHead(206, { 'Content-Length': body.length });
      if (nth === 1) return cut(response, body, 10_000);
      response.end(body);
    });
    const bytes = await remote.get(NAME, { from: 100_000, to: 200_000 });
    expect(bytes).toEqual(OBJECT.slice(100_000, 200_000));
    expect(ranges).toEqual(['bytes=100000-199999', 'bytes=110000-199999']);
  });

  it('skips the received bytes if the server ignores ranges', async () => {
    const { ranges, remote } = await serving((response, _, nth) => {
      const body = head(response, undefined);
      if (nth < 3) return cut(response, body, 70_000 * nth);
      response.end(body);
    });
    expect(isObject(await remote.get(NAME))).toBe(true);
    expect(ranges).toEqual([undefined, 'bytes=70000-', 'bytes=140000-']);
  });

  it('requests all parts if the server sends parts', async () => {
    const { ranges, remote } = await serving((response, range, nth) => {
      if (nth === 1) return cut(response, head(response, range), 1000);
      const from = fromOf(range);
      const to = Math.min(from + 100_000, LENGTH);
      response.writeHead(206, { 'Content-Range': `bytes ${from}-${to - 1}/${LENGTH}` });
      response.end(OBJECT.subarray(from, to));
    });
    expect(isObject(await remote.get(NAME))).toBe(true);
    expect(ranges).toHaveLength(4);
  });

  it('is whole after its last byte', async () => {
    const { ranges, remote } = await serving((response) => {
      response.writeHead(200, { 'Transfer-Encoding': 'chunked' });
      cut(response, OBJECT, LENGTH);
    });
    const again = await serving((response, range) => {
      if (range === `bytes=${LENGTH}-`) return void response.writeHead(416).end();
      response.writeHead(200, { 'Transfer-Encoding': 'chunked' });
      return cut(response, OBJECT, LENGTH);
    });
    expect(isObject(await again.remote.get(NAME))).toBe(true);
    // A server without ranges sends no new byte: the end of the object stays unknown.
    await expect(remote.get(NAME)).rejects.toMatchObject({ code: 'offline' });
    expect([again.ranges.length, ranges.length]).toEqual([2, 4]);
  });

  it('is offline after a few tries without progress, and the next call goes on', async () => {
    let isDown = true;
    const { ranges, remote } = await serving((response, range, nth) => {
      const body = head(response, range);
      if (nth === 1) return cut(response, body, 80_000);
      if (isDown) return response.destroy();
      response.end(body);
    });
    await expect(remote.get(NAME)).rejects.toMatchObject({ code: 'offline', retryable: true });
    expect(ranges).toHaveLength(4);
    isDown = false;
    expect(isObject(await remote.get(NAME))).toBe(true);
    expect(ranges[4]).toBe('bytes=80000-');
  });

  it('is not requested again if no byte came', async () => {
    const { ranges, remote } = await serving((response, range) =>
      cut(response, head(response, range), 0),
    );
    await expect(remote.get(NAME)).rejects.toMatchObject({ code: 'offline' });
    expect(ranges).toEqual([undefined]);
  });

  it('goes on after a call that was aborted', async () => {
    const controller = new AbortController();
    const { ranges, url } = await serving((response, range, nth) => {
      const body = head(response, range);
      if (nth > 1) return void response.end(body);
      response.write(body.subarray(0, 60_000));
    });
    const remote = httpRemote({
      url,
      fetch: async (to, init) => {
        const response = await fetch(to, init);
        return ranges.length > 1 ? response : after(60_000, response, () => controller.abort());
      },
    });
    await expect(remote.get(NAME, undefined, { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(isObject(await remote.get(NAME))).toBe(true);
    expect(ranges).toEqual([undefined, 'bytes=60000-']);
  });

  it('fails if it brings a byte at a time', async () => {
    const ranges: (string | undefined)[] = [];
    const dripping = httpRemote({
      url: 'http://127.0.0.1/',
      fetch: async (_, init) => {
        ranges.push((init.headers as Record<string, string>).Range);
        let isFirst = true;
        const pull = (controller: ReadableStreamDefaultController) => {
          if (!isFirst) return controller.error(new TypeError('cut'));
          isFirst = false;
          controller.enqueue(new Uint8Array(1));
        };
        const body = new ReadableStream({ pull }, { highWaterMark: 0 });
        return new Response(body, { status: ranges.length > 1 ? 206 : 200 });
      },
    });
    await expect(dripping.get(NAME)).rejects.toMatchObject({ code: 'offline' });
    expect(ranges.length).toBe(1000);
  });
});

describe('the rest of an object', () => {
  const rest = (told: string) =>
    serving((response, range, nth) => {
      if (nth === 1) return cut(response, head(response, range), 50_000);
      const body = OBJECT.subarray(fromOf(range));
      response.writeHead(206, { 'Content-Range': told });
      response.end(body);
    });
  it.each([
    ['that begins elsewhere', `bytes 0-${LENGTH - 1}/${LENGTH}`],
    ['that ends elsewhere', `bytes 50000-${LENGTH}/*`],
    ['of another length', `bytes 50000-${LENGTH - 1}/${LENGTH + 1}`],
    ['of another form', 'bytes 50000'],
  ])('%s is refused, and no byte of it is kept', async (_, told) => {
    const { ranges, remote } = await rest(told);
    await expect(remote.get(NAME)).rejects.toMatchObject({
      code: 'remote',
      detail: 'status',
      retryable: false,
    });
    expect(ranges).toHaveLength(2);
    const next: Promise<unknown> = remote.get(NAME);
    await next.catch(() => {});
    expect(ranges[2]).toBeUndefined();
  });

  it('is no object if the object is gone', async () => {
    const { remote } = await serving((response, range, nth) => {
      if (nth === 1) return cut(response, head(response, range), 50_000);
      response.writeHead(404).end();
    });
    expect(await remote.get(NAME)).toBeUndefined();
  });

  it('is requested by the next call if it is refused for now', async () => {
    const { ranges, remote } = await serving((response, range, nth) => {
      if (nth === 2) return response.writeHead(503).end();
      const body = head(response, range);
      if (nth === 1) return cut(response, body, 50_000);
      response.end(body);
    });
    await expect(remote.get(NAME)).rejects.toMatchObject({
      code: 'remote',
      detail: 'status',
      status: 503,
    });
    expect(isObject(await remote.get(NAME))).toBe(true);
    expect(ranges).toEqual([undefined, 'bytes=50000-', 'bytes=50000-']);
  });

  it('is kept up to 16 MiB, the newest first', async () => {
    const [bytes, ranges] = [random(2).bytes(7 << 20), [] as (string | undefined)[]];
    const names = [1, 2, 3].map((nth) => hashedName('p', Uint8Array.of(nth)));
    const remote: Remote = httpRemote({
      url: 'http://127.0.0.1/',
      fetch: async (_, init) => {
        const range = (init.headers as Record<string, string>).Range;
        ranges.push(range);
        if (range !== undefined) throw new TypeError('down');
        let isFirst = true;
        const pull = (controller: ReadableStreamDefaultController) => {
          if (!isFirst) return controller.error(new TypeError('cut'));
          isFirst = false;
          controller.enqueue(bytes);
        };
        return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
      },
    });
    for (const name of names) await remote.get(name).catch(() => {});
    ranges.length = 0;
    for (const name of names.toReversed()) await remote.get(name).catch(() => {});
    const rest = `bytes=${7 << 20}-`;
    expect(ranges.map((range) => range === rest)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
  });
});
