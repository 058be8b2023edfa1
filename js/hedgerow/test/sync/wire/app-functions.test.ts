/** Functions of an app that supply requests, and fail: a network error is offline, and a refusal is a refusal. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError, memory, open } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import type { Connection } from '../../../src/sync/link/connection.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { s3Remote } from '../../../src/sync/remote/adapters/s3.js';
import { httpRemote, memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { rest } from '../../../src/sync/rest/index.js';
import { answering } from '../../support/doubles/answering-server.js';
import { kindOf } from '../../support/error-kind.js';
import { device } from '../../support/worlds/sync-devices.js';

afterEach(() => {
  vi.useRealTimers();
});

type Give = () => never | Promise<never>;
const at = { url: 'http://127.0.0.1:9/' };
const bucket = { endpoint: 'http://127.0.0.1:9', bucket: 'rooms' };

/** A call that uses a function of the app, and a loop with the same call. */
const asks: Record<
  string,
  (give: Give) => Promise<{ call: () => Promise<unknown>; loop: Connection }>
> = {
  token: (give) => linked(httpRemote({ ...at, token: give })),
  sign: (give) => linked(s3Remote({ sign: give })),
  credentials: (give) => linked(s3Remote({ ...bucket, credentials: give })),
  keys: async (give) => {
    const remote = memoryRemote();
    const other = await device(remote, {
      encryption: remoteKeys({ place: 'room', keys: () => KEY }),
    });
    await other.db.put('a', 1);
    await other.link.push();
    return linked(remote, { encryption: remoteKeys({ place: 'room', keys: give }) });
  },
  async 'auth of mutators'(auth) {
    const db = await open('app', { storage: memory() });
    const app = await db.connect(
      mutators({
        ...{
          mutators: {
            async put(tx) {
              tx.put('k', 1);
            },
          },
          pull: at,
          push: at,
          auth,
        },
      }),
    );
    await app.mutate.put();
    return { call: () => app.push(), loop: app };
  },
  async 'auth of rest'(auth) {
    const db = await open('app', { storage: memory() });
    const app = await db.connect(rest({ pull: at, push: at, auth }));
    await db.put('a', 1);
    return { call: () => app.push(), loop: app };
  },
};
const KEY = new Uint8Array(32).fill(7);

async function linked(remote: Remote, options = {}) {
  const { db, link } = await device(remote, options);
  await db.put('k', 1);
  return { call: () => link.push(), loop: link };
}

const named = (name: string) => Object.assign(new Error('it failed'), { name });

describe.each(Object.keys(asks))('%s', (name) => {
  const begin = (give: Give) => (asks[name] as (typeof asks)[string])(give);

  it.each([
    ['fetch without a network', () => fetch('http://127.0.0.1:9/').then(() => undefined as never)],
    ['a fetch of browsers', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['AbortError', () => Promise.reject(named('AbortError'))],
    ['NetworkError', () => Promise.reject(named('NetworkError'))],
  ])('is offline after an error of the network: %s', async (_, give: Give) => {
    const { call, loop } = await begin(give);
    await expect(call()).rejects.toMatchObject({
      ...{ name: 'HedgerowError', code: 'offline', isSent: false },
    });
    const running = loop;
    running.start({});
    await expect.poll(() => running.state.status).toBe('offline');
    expect(running.state.error?.code).toBe('offline');
    await running.stop();
  });

  it.each([
    ['an error', () => Promise.reject(new Error('status 403'))],
    [
      'at once',
      () => {
        throw new Error('status 403');
      },
    ],
    ['no error', () => Promise.reject('status 403')],
    ['a mistake of the app', () => (undefined as unknown as { no: () => never }).no()],
  ])('is unauthorized after any other error: %s', async (_, give: Give) => {
    const { call, loop } = await begin(give);
    await expect(call()).rejects.toMatchObject({
      ...{ name: 'HedgerowError', code: 'unauthorized', cause: expect.anything() },
    });
    const running = loop;
    running.start({});
    await expect.poll(() => running.state.status).toBe('failing');
    expect(kindOf(running.state.error)).toBe('unauthorized');
    await running.stop();
  });

  it('passes on a HedgerowError', async () => {
    const { call } = await begin(() => Promise.reject(new HedgerowError('remote/gone', 'room')));
    await expect(call()).rejects.toMatchObject({ code: 'remote', detail: 'gone', message: 'room' });
  });

  it('has 30 seconds', async () => {
    const { call } = await begin(() => new Promise<never>(() => {}));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let error: HedgerowError | undefined;
    call().catch((cause) => {
      error = cause;
    });
    for (let seconds = 0; seconds < 29; seconds++) await vi.advanceTimersByTimeAsync(1000);
    expect(error).toBeUndefined();
    for (let seconds = 0; seconds < 60 && !error; seconds++)
      await vi.advanceTimersByTimeAsync(1000);
    expect(error).toMatchObject({ code: 'offline', isSent: false });
  });
});

it.each(['token', 'sign', 'credentials'])('the wait for %s ends with the signal', async (name) => {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const give = () => {
    begin();
    return new Promise<never>(() => {});
  };
  const remote: Remote = {
    token: () => httpRemote({ ...at, token: give }),
    sign: () => s3Remote({ sign: give }),
    credentials: () => s3Remote({ ...bucket, credentials: give }),
  }[name as 'token']();
  const stop = new AbortController();
  const call = remote.readHead('main', { signal: stop.signal });
  await begun;
  stop.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
});

it('sign refuses a request by undefined', async () => {
  const remote = s3Remote({ prefix: 'room/', sign: () => undefined });
  await expect(remote.remove(['h/main'])).rejects.toMatchObject({
    ...{ code: 'unauthorized', message: 'DELETE room/h/main: it is not allowed' },
  });
  for (const wrong of [7, '', 'room/h/main', null]) {
    const bad = s3Remote({ sign: () => wrong as never });
    await expect(bad.readHead('main')).rejects.toMatchObject({ code: 'unauthorized' });
  }
});

it('a refused token is requested again, once', async () => {
  const { url, seen } = await answering((request, response) =>
    request.headers.authorization === 'Bearer 2'
      ? response.writeHead(200, { ETag: '"1"' }).end()
      : response.writeHead(401).end(),
  );
  let given = 0;
  const turning = httpRemote({ url, token: () => String(++given) });
  expect(await turning.swapHead('main', '"0"', new Uint8Array(3))).toMatchObject({ token: '"1"' });
  expect(seen).toHaveLength(2);
  const wrong = httpRemote({ url, token: () => `no ${++given}` });
  await expect(wrong.readHead('main')).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  expect(seen).toHaveLength(4);
  // The same token would be refused again.
  const constant = httpRemote({ url, token: () => 'no' });
  await expect(constant.readHead('main')).rejects.toMatchObject({ code: 'unauthorized' });
  expect(seen).toHaveLength(5);
});
