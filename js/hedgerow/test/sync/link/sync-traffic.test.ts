/**
 * `link.traffic` counts answered requests, and requests that may have left, and no others.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { meterRemote } from '../../../src/sync/link/metered-remote.js';
import {
  httpRemote,
  memoryRemote,
  type Remote,
  type Swap,
} from '../../../src/sync/remote/index.js';
import { kindOf } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { cost, device } from '../../support/worlds/sync-devices.js';

afterEach(() => void vi.unstubAllGlobals());

const nothing = { requests: 0, sent: 0, received: 0 };
const unsent = () => new HedgerowError('offline', 'the plug is pulled', { isSent: false });
const lost = () => new HedgerowError('offline', 'the answer was lost');

/** A local server that gets each request; resolves to its remote, and a function that ends it. */
async function served(hear: Parameters<Server['on']>[1]) {
  const server = createServer().on('request', hear).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const end = () => new Promise((resolve) => server.close(resolve));
  return { remote: httpRemote({ url: `http://127.0.0.1:${port}/` }), end };
}

/** Returns the counts of a meter for calls that fail. */
async function counted(remote: Remote, call: (remote: Remote) => Promise<unknown>) {
  const traffic = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const outcome = await call(meterRemote(remote, traffic)).catch((cause: unknown) => cause);
  return { ...traffic, code: kindOf(outcome) };
}

it('a call is no request if the remote knows that it never left', async () => {
  const inner = memoryRemote();
  let isDown = false;
  const remote: Remote = {
    ...inner,
    async readHead(...call) {
      if (isDown) throw unsent();
      return inner.readHead(...call);
    },
    async readHeadSince(...call) {
      if (isDown) throw unsent();
      return inner.readHeadSince(...call);
    },
    async swapHead(...call): Promise<Swap> {
      return isDown ? { state: 'unknown', cause: unsent() } : inner.swapHead(...call);
    },
  };
  const { db, link } = await device(remote);
  await db.put('a', 1);
  isDown = true;
  const failed = async () => {
    await expect(link.pull()).rejects.toEqual(failure('offline'));
    await expect(link.push()).rejects.toEqual(failure('offline'));
  };
  expect(await cost(link, failed)).toEqual(nothing);
  isDown = false;
  await link.push();
  await db.put('a', 2);
  isDown = true;
  // The head is known: it begins with the swap.
  const swapping = () => expect(link.push()).rejects.toEqual(failure('offline'));
  expect(await cost(link, swapping)).toEqual(nothing);
});

it('a call whose answer was lost is a request, with the bytes that it has sent', async () => {
  const inner = memoryRemote();
  const body = new Uint8Array(100);
  const remote: Remote = {
    ...inner,
    async put(...call) {
      await inner.put(...call);
      throw lost();
    },
    async swapHead(...call): Promise<Swap> {
      await inner.swapHead(...call);
      return { state: 'unknown', cause: lost() };
    },
  };
  const one = { requests: 1, sentBytes: 100, receivedBytes: 0 };
  expect(await counted(remote, (own) => own.put('hedgerow', body))).toEqual({
    ...one,
    code: 'offline',
  });
  expect(await counted(remote, (own) => own.swapHead('main', undefined, body))).toMatchObject(one);
});

it('a call that is refused here or aborted before it leaves is no request', async () => {
  const remote = memoryRemote();
  const signal = AbortSignal.abort();
  const none = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const aborted = await counted(remote, (own) => own.readHead('main', { signal }));
  expect(aborted).toEqual({ ...none, code: 'aborted' });
  const wrong = await counted(remote, (own) => own.put('no name', new Uint8Array(9)));
  expect(wrong).toEqual({ ...none, code: 'invalid-argument' });
});

it('a call that is aborted on its way is a request', async () => {
  const { remote, end } = await served(() => controller.abort());
  const controller = new AbortController();
  const { signal } = controller;
  const body = new Uint8Array(50);
  expect(await counted(remote, (own) => own.put('hedgerow', body, { signal }))).toEqual({
    ...{ requests: 1, sentBytes: 50, receivedBytes: 0 },
    code: 'aborted',
  });
  await end();
});

it('a connection that a server cuts is a request, and a refused one is not', async () => {
  let heard = 0;
  const { remote, end } = await served(({ socket }) => {
    heard += 1;
    socket.destroy();
  });
  const { db, link } = await device(remote);
  await db.put('a', 1);
  const failed = async () => {
    await expect(link.pull()).rejects.toEqual(failure('offline'));
  };
  const cut = await cost(link, failed);
  expect(cut).toEqual({ requests: 1, sent: 0, received: 0 });
  expect(heard).toBeGreaterThan(0);
  await end();
  expect(await cost(link, failed)).toEqual(nothing);
  const none = { requests: 0, sentBytes: 0 };
  const body = new Uint8Array(60);
  expect(await counted(remote, (own) => own.swapHead('main', undefined, body))).toMatchObject(none);
  expect(await counted(remote, (own) => own.put('hedgerow', body))).toMatchObject(none);
});

it.each([
  [
    'no address took the connection',
    { errors: [{ syscall: 'connect' }, { syscall: 'connect' }] },
    0,
  ],
  ['one of the addresses may have', { errors: [{ syscall: 'connect' }, { syscall: 'read' }] }, 1],
  ['the name is unknown', { syscall: 'getaddrinfo' }, 0],
  ['the connection took too long', { code: 'UND_ERR_CONNECT_TIMEOUT' }, 0],
  ['the connection was reset', { syscall: 'read', code: 'ECONNRESET' }, 1],
  ['the platform gives no reason', undefined, 1],
])('the requests of a failed call are counted where %s', async (_, cause, requests) => {
  const fetch = async () => {
    throw new TypeError('fetch failed', { cause });
  };
  const remote = httpRemote({ url: 'http://example.org/', fetch });
  expect(await counted(remote, (own) => own.readHead('main'))).toMatchObject({
    requests,
    code: 'offline',
  });
});

it('a call that fails on a page without a network is no request', async () => {
  const line = { onLine: false };
  vi.stubGlobal('navigator', line);
  let isLost = true;
  const fetch = async () => {
    // A page does not learn the reason.
    if (isLost) throw new TypeError('Failed to fetch');
    return new Response(new Uint8Array(3), { headers: { etag: '"1"' } });
  };
  const remote = httpRemote({ url: 'http://example.org/', fetch });
  const read = (own: Remote) => own.readHead('main');
  expect(await counted(remote, read)).toMatchObject({ requests: 0, code: 'offline' });
  // The page hears it before the line is back, or after it has gone.
  const changing = (own: Remote) => {
    const reading = own.readHead('main');
    line.onLine = !line.onLine;
    return reading;
  };
  expect(await counted(remote, changing)).toMatchObject({ requests: 1 });
  expect(await counted(remote, changing)).toMatchObject({ requests: 1 });
  // An answered request was sent, whatever the page hears.
  isLost = false;
  line.onLine = false;
  expect(await counted(remote, read)).toMatchObject({ requests: 1, receivedBytes: 3 });
});
