/** Access to the reference server: by address, by the origin of a page, and by tokens with one right each. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { turn } from '../../hedgerow/src/base/slice-queue.js';
import {
  hashedName,
  httpRemote,
  memoryRemote,
  type Remote,
} from '../../hedgerow/src/sync/remote/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { slicedName } from '../src/hash-in-slices.js';
import { serveRemote } from '../src/serve-remote.js';

/** Runs before the server hashes a body. */
const hashing = vi.hoisted(() => ({ before: async () => {} }));
vi.mock('../src/hash-in-slices.js', async (original) => {
  const { slicedName } = await original<typeof import('../src/hash-in-slices.js')>();
  return {
    slicedName: async (...given: Parameters<typeof slicedName>) => {
      await hashing.before();
      return slicedName(...given);
    },
  };
});

const bytes = (text: string) => new TextEncoder().encode(text);
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const HEAD = bytes('a head');
async function served(options?: Parameters<typeof serveRemote>[1]) {
  const remote = memoryRemote();
  const swap = await remote.swapHead('main', undefined, HEAD);
  const { url, close } = await serveRemote(remote, options);
  ends.push(close);
  return {
    remote,
    url,
    port: new URL(url).port,
    token: swap.state === 'swapped' ? swap.token : '',
  };
}

/** Sends a request with headers that `fetch` does not let a program set. */
async function ask(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const asked = request(new URL(path, url), { method, headers, agent: false });
  asked.end(method === 'PUT' ? 'x' : undefined);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // A stream of events does not end.
  response.destroy();
  return response;
}

const CALLS: readonly (readonly [method: string, path: string])[] = [
  ['OPTIONS', 'h/main'],
  ['GET', 'h/main'],
  ['GET', '?list=h/'],
  ['GET', 'events'],
  ['PUT', 'hedgerow'],
  ['DELETE', 'h/main'],
];

async function refusesAll(
  { remote, url }: Awaited<ReturnType<typeof served>>,
  headers: Record<string, string>,
) {
  for (const [method, path] of CALLS) {
    const { statusCode, headers: told } = await ask(url, method, path, headers);
    expect({ method, path, headers, statusCode }).toMatchObject({ statusCode: 403 });
    expect(told['access-control-allow-origin']).toBeUndefined();
  }
  expect((await remote.readHead('main'))?.bytes).toEqual(HEAD);
  expect(await remote.get('hedgerow')).toBeUndefined();
}

const FOREIGN = ['https://evil.example', 'http://localhost:5173', 'http://127.0.0.1:1', 'null'];

describe('without a token', () => {
  it('answers under its own address alone, so that no page can give that address another name', async () => {
    const server = await served();
    const { url, port } = server;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '127.0.0.1', 'LocalHost']) {
      expect((await ask(url, 'GET', 'h/main', { host })).statusCode).toBe(200);
    }
    const strange = ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1'];
    for (const host of [...strange, 'localhost.evil.example', `a@127.0.0.1:${port}`, '%', ' ']) {
      await refusesAll(server, { host });
      await refusesAll(server, { host, origin: `http://${host}` });
    }
  });

  it('answers under the address of the request if it listens on all, and under its given name', async () => {
    const { url } = await served({ host: '0.0.0.0' });
    const local = url.replace('0.0.0.0', '127.0.0.1');
    expect((await ask(local, 'GET', 'h/main')).statusCode).toBe(200);
    expect((await ask(local, 'GET', 'h/main', { host: 'evil.example' })).statusCode).toBe(403);
    const named = await served({ host: 'LOCALHOST' });
    expect((await ask(named.url, 'GET', 'h/main')).statusCode).toBe(200);
  });

  it('accepts programs, and pages of its own address', async () => {
    const { url, port } = await served();
    const { headers } = await ask(url, 'GET', 'h/main');
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const origin = `http://127.0.0.1:${port}`;
    expect((await ask(url, 'GET', 'h/main', { origin })).statusCode).toBe(200);
  });

  it('refuses pages whose origin is not configured', async () => {
    const server = await served();
    for (const origin of FOREIGN) await refusesAll(server, { origin });
    const named = await served({ origin: ['https://app.example', 'http://localhost:4000'] });
    for (const origin of FOREIGN) await refusesAll(named, { origin });
    for (const origin of ['https://app.example', 'http://localhost:4000']) {
      const { statusCode, headers } = await ask(named.url, 'GET', 'h/main', { origin });
      expect(statusCode).toBe(200);
      expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
      expect(headers['access-control-expose-headers']).toContain('ETag');
      const preflight = await ask(named.url, 'OPTIONS', 'h/main', { origin });
      expect(preflight.statusCode).toBe(204);
      expect(preflight.headers['access-control-allow-headers']).toContain('if-match');
    }
  });

  it('accepts all pages if the options say so', async () => {
    const { url } = await served({ origin: '*' });
    for (const origin of FOREIGN) {
      const { headers } = await ask(url, 'GET', 'h/main', { origin });
      expect(headers['access-control-allow-origin']).toBe('*');
    }
  });
});

it('rejects an origin that a browser never sends', async () => {
  const wrong = [
    'https://app.example/',
    'app.example',
    'https://APP.example',
    '',
    'null',
    7,
    Symbol(),
    {},
  ];
  for (const origin of [...wrong, ['*', 'x']]) {
    const refused = serveRemote(memoryRemote(), { origin: origin as never });
    await expect(refused).rejects.toMatchObject(ofKind('invalid-argument'));
  }
});

describe('with tokens', () => {
  it('accepts pages of all origins under any address, but no request without the token', async () => {
    const { url } = await served({ token: 'secret' });
    for (const origin of FOREIGN) {
      const headers = { origin, host: 'app.example', authorization: 'Bearer secret' };
      const answer = await ask(url, 'GET', 'h/main', headers);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect((await ask(url, 'GET', 'h/main', { origin })).statusCode).toBe(401);
    }
  });

  /** The calls of a right, and whether the server allowed each. */
  const rights: Record<string, (remote: Remote, token: string) => Promise<unknown>> = {
    read: async (remote) => {
      expect((await remote.readHead('main'))?.bytes).toEqual(HEAD);
      await remote.list('h/');
      await remote.get('hedgerow');
    },
    write: async (remote, token) => {
      await remote.put('hedgerow', bytes('x'));
      await remote.swapHead('main', token, HEAD);
    },
    delete: (remote) => remote.remove(['h/main']),
  };

  async function allowed(options: Parameters<typeof serveRemote>[1], token: string | undefined) {
    const found: string[] = [];
    for (const [right, call] of Object.entries(rights)) {
      const server = await served(options);
      const tried = call(httpRemote({ url: server.url, token }), server.token);
      const isAllowed = await tried.then(
        () => true,
        (cause) => {
          expect(cause).toMatchObject({ code: 'unauthorized' });
          return false;
        },
      );
      if (isAllowed) found.push(right);
      const head = await server.remote.readHead('main');
      expect(head === undefined).toBe(isAllowed && right === 'delete');
      if (right === 'write' && !isAllowed) expect(head?.token).toBe(server.token);
    }
    return found;
  }

  it('gives each token its right and the lesser rights', async () => {
    const all = { readToken: 'r', token: 'w', deleteToken: 'd' };
    expect(await allowed(all, 'r')).toEqual(['read']);
    expect(await allowed(all, 'w')).toEqual(['read', 'write']);
    expect(await allowed(all, 'd')).toEqual(['read', 'write', 'delete']);
    for (const wrong of [undefined, '', 'x', 'rw', 'R']) {
      expect(await allowed(all, wrong)).toEqual([]);
      expect(await allowed({ ...all, publicReads: true }, wrong)).toEqual(['read']);
    }
    expect(await allowed({ ...all, publicReads: true }, 'w')).toEqual(['read', 'write']);
  });

  it('allows deletes only by a token for deletes, which may be the token for all', async () => {
    expect(await allowed({ token: 'w' }, 'w')).toEqual(['read', 'write']);
    expect(await allowed({ readToken: 'r' }, 'r')).toEqual(['read']);
    expect(await allowed({ deleteToken: 'd' }, 'd')).toEqual(['read', 'write', 'delete']);
    expect(await allowed({ token: 'a', deleteToken: 'a' }, 'a')).toHaveLength(3);
    expect(await allowed({}, undefined)).toHaveLength(3);
  });
});

it('hashes a body in slices, and other requests run in between', async () => {
  for (const length of [0, 1, 65_536, 65_537, (1 << 20) + 7]) {
    const body = Uint8Array.from({ length }, (_, at) => at * 7);
    let isDone = false;
    const named = slicedName('p', body).finally(() => {
      isDone = true;
    });
    let turns = 0;
    while (!isDone) {
      await turn();
      turns += 1;
    }
    expect(await named).toBe(hashedName('p', body));
    expect(turns).toBeGreaterThanOrEqual(Math.ceil(length / 65_536));
  }
});

it('answers other requests while it hashes', async () => {
  const { url, remote } = await served();
  const object = bytes('an object');
  const name = hashedName('p', object);
  let beside: string | undefined;
  hashing.before = async () => {
    beside = (await httpRemote({ url }).readHead('main'))?.token;
  };
  await httpRemote({ url }).put(name, object);
  hashing.before = async () => {};
  expect(beside).toBeDefined();
  expect(await remote.get(name)).toEqual(object);
});
