/** Remotes over HTTP whose answers are wrong, late, cut off or changed on the way. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  hashedName,
  httpRemote,
  probeRemote,
  type Remote,
} from '../../../src/sync/remote/index.js';
import { always, answering, ends } from '../../support/doubles/answering-server.js';
import { ofKind } from '../../support/error-kind.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const OBJECT = bytes('0123456789abcdef');
const NAME = hashedName('p', OBJECT);

afterEach(() => {
  vi.useRealTimers();
});

const reads: readonly [string, (remote: Remote) => Promise<unknown>][] = [
  ['readHead', (remote) => remote.readHead('main')],
  ['readHeadSince', (remote) => remote.readHeadSince('main', '"1"')],
  ['get', (remote) => remote.get(NAME)],
  ['get of a range', (remote) => remote.get(NAME, { from: 2, to: 6 })],
  ['list', (remote) => remote.list('p/')],
];
const writes: readonly [string, (remote: Remote) => Promise<unknown>][] = [
  ['put', (remote) => remote.put(NAME, OBJECT)],
  ['remove', (remote) => remote.remove([NAME])],
];

describe.each(reads)('%s', (_, call) => {
  it.each([
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [410, 'remote/gone', false],
    [400, 'remote/status', false],
    [418, 'remote/status', false],
    [429, 'remote/status', true],
    [500, 'remote/status', true],
    [503, 'remote/status', true],
  ])('with status %i is %s', async (status, code, retryable) => {
    const { remote } = await always(status, {}, 'no');
    await expect(call(remote)).rejects.toMatchObject({ ...ofKind(code), retryable, status });
  });

  it('names the bucket that does not exist', async () => {
    const { remote } = await always(404, {}, '<Error><Code>NoSuchBucket</Code></Error>');
    await expect(call(remote)).rejects.toMatchObject(ofKind('remote/gone'));
  });

  it('does not take a page for an object', async () => {
    const { remote } = await always(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<html>');
    await expect(call(remote)).rejects.toMatchObject({
      ...ofKind('remote/status'),
      status: 200,
    });
  });

  it.each([301, 302, 307, 308])('does not follow status %i', async (status) => {
    const { remote, seen } = await always(status, { Location: '/elsewhere' });
    await expect(call(remote)).rejects.toMatchObject({
      ...ofKind('remote/status'),
      retryable: false,
    });
    expect(seen).toHaveLength(1);
  });

  it('is offline when the answer is cut off', async () => {
    const { remote } = await answering((request, response, at) => {
      if (at > 1) return void response.destroy();
      const status = request.headers.range === undefined ? 200 : 206;
      response.writeHead(status, { 'Content-Length': '4', ETag: '"1"2' }).write('ab');
      return void setTimeout(() => response.destroy(), 20);
    });
    await expect(call(remote)).rejects.toMatchObject({ code: 'offline', retryable: true });
  });

  it('is offline when no server listens', async () => {
    const { url } = await always(200);
    for (const end of ends.splice(0)) end();
    await expect(call(httpRemote({ url }))).rejects.toMatchObject({ code: 'offline' });
  });

  it('ends at once with its signal', async () => {
    const { remote, url } = await answering(() => {});
    void remote;
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const hanging = httpRemote({
      url,
      fetch: (to, init) => {
        signals.push(init.signal as AbortSignal);
        return fetch(to, init);
      },
    });
    const calls: Record<string, () => Promise<unknown>> = {
      readHead: () => hanging.readHead('main', { signal: controller.signal }),
      readHeadSince: () => hanging.readHeadSince('main', '"1"', { signal: controller.signal }),
      get: () => hanging.get(NAME, undefined, { signal: controller.signal }),
      'get of a range': () => hanging.get(NAME, { from: 2, to: 6 }, { signal: controller.signal }),
      list: () => hanging.list('p/', { signal: controller.signal }),
    };
    const pending = calls[_]?.();
    setTimeout(() => controller.abort(), 30);
    await expect(pending).rejects.toMatchObject({ code: 'aborted', name: 'AbortError' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe.each(writes)('%s', (_, call) => {
  it.each([
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [405, 'remote/status'],
    [501, 'remote/status'],
    [500, 'remote/status'],
    [302, 'remote/status'],
  ])('with status %i is %s', async (status, code) => {
    const { remote } = await always(status, status === 302 ? { Location: '/' } : {}, 'no');
    await expect(call(remote)).rejects.toMatchObject({ ...ofKind(code), status });
  });
});

describe('a head', () => {
  it('is refused before it is read if it is too long', async () => {
    const { remote } = await answering((_, response) => {
      response.writeHead(200, { 'Content-Length': String(1 << 30), ETag: '"1"' }).write('x');
    });
    await expect(remote.readHead('main')).rejects.toMatchObject({
      ...ofKind('remote/status'),
    });
  });

  it('is refused at its limit if it does not end', async () => {
    const { remote } = await answering((_, response) => {
      response.writeHead(200, { ETag: '"1"' });
      const timer = setInterval(() => response.write(new Uint8Array(10_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    await expect(remote.readHead('main')).rejects.toMatchObject({
      ...ofKind('remote/status'),
    });
  });

  it('has a token without an ETag on a static server, which no swap takes', async () => {
    let text = 'one';
    const { remote, seen } = await answering((_, response) => response.writeHead(200).end(text));
    const head = await remote.readHead('main');
    expect(head?.bytes).toEqual(bytes('one'));
    const token = head?.token ?? '';
    expect(await remote.readHeadSince('main', token)).toBe('unchanged');
    text = 'two';
    expect(await remote.readHeadSince('main', token)).toMatchObject({ bytes: bytes('two') });
    const before = seen.length;
    await expect(remote.swapHead('main', token, bytes('x'))).rejects.toMatchObject({
      ...ofKind('remote/unsafe'),
    });
    expect(seen).toHaveLength(before);
  });

  it('is read with a weak ETag, and not swapped', async () => {
    const { remote } = await always(200, { ETag: 'W/"1"' }, 'one');
    const head = await remote.readHead('main');
    expect(head?.token).toBe('W/"1"');
    expect(await remote.readHeadSince('main', 'W/"1"')).toBe('unchanged');
    await expect(remote.swapHead('main', 'W/"1"', bytes('x'))).rejects.toMatchObject({
      ...ofKind('remote/unsafe'),
    });
  });
});

describe('a swap', () => {
  const swap = (remote: Remote) => remote.swapHead('main', '"1"', bytes('mine'));

  it.each([500, 502, 503, 504, 408])('is unknown after status %i', async (status) => {
    const { remote } = await always(status);
    expect(await swap(remote)).toMatchObject({ state: 'unknown', cause: { status } });
  });

  it('is unknown if its answer is lost', async () => {
    const { remote } = await answering((_, response) => response.destroy());
    expect(await swap(remote)).toMatchObject({ state: 'unknown', cause: { code: 'offline' } });
  });

  it('has not happened after status 429', async () => {
    const { remote } = await always(429);
    await expect(swap(remote)).rejects.toMatchObject({
      ...ofKind('remote/status'),
      retryable: true,
    });
  });

  it('is remote/gone for a head that does not exist', async () => {
    const { remote } = await always(404);
    await expect(swap(remote)).rejects.toMatchObject(ofKind('remote/gone'));
    const other = await answering((request, response) =>
      response.writeHead(request.method === 'PUT' ? 412 : 404).end(),
    );
    await expect(swap(other.remote)).rejects.toMatchObject(ofKind('remote/gone'));
  });

  it('is repeated after 409', async () => {
    const { remote, seen } = await answering((_, response, at) =>
      response.writeHead(at < 4 ? 409 : 200, { ETag: '"2"' }).end(),
    );
    expect(await swap(remote)).toEqual({ state: 'swapped', token: '"2"' });
    expect(seen.map(({ headers }) => headers['if-match'])).toEqual(Array(4).fill('"1"'));
  });

  it('is unknown if it ends with 409, or with 412 after it', async () => {
    const { remote, seen } = await always(409);
    expect(await swap(remote)).toMatchObject({ state: 'unknown', cause: { status: 409 } });
    expect(seen).toHaveLength(6);
    const other = await answering((_, response, at) =>
      response.writeHead(at === 1 ? 409 : 412).end(),
    );
    expect(await swap(other.remote)).toMatchObject({ state: 'unknown', cause: { status: 412 } });
  });

  it('is lost after 412, and returns the current head', async () => {
    const { remote } = await answering((request, response) =>
      request.method === 'PUT'
        ? response.writeHead(412).end()
        : response.writeHead(200, { ETag: '"2"' }).end('theirs'),
    );
    expect(await swap(remote)).toMatchObject({
      state: 'lost',
      head: { token: '"2"', bytes: bytes('theirs') },
    });
  });

  it('is repeated without quotes where the token is unchanged, and so are later ones', async () => {
    let token = '1';
    const { remote, seen } = await answering((request, response) => {
      if (request.method === 'GET') return response.writeHead(200, { ETag: `"${token}"` }).end('x');
      if (request.headers['if-match'] !== token) return response.writeHead(412).end();
      token += '1';
      return response.writeHead(200, { ETag: `"${token}"` }).end();
    });
    expect(await swap(remote)).toEqual({ state: 'swapped', token: '"11"' });
    expect(await remote.swapHead('main', '"11"', bytes('next'))).toMatchObject({ token: '"111"' });
    const asked = seen.map(({ method, headers }) => `${method} ${headers['if-match']}`);
    expect(asked).toEqual(['PUT "1"', 'GET undefined', 'PUT 1', 'PUT 11']);
    expect(await remote.swapHead('main', '"11"', bytes('late'))).toMatchObject({ state: 'lost' });
  });

  it('stays quoted where that does not help either', async () => {
    const { remote, seen } = await answering((request, response) =>
      request.method === 'PUT'
        ? response.writeHead(412).end()
        : response.writeHead(200, { ETag: '"1"' }).end('x'),
    );
    expect(await swap(remote)).toMatchObject({
      state: 'unknown',
      cause: ofKind('remote/status'),
    });
    await swap(remote);
    const asked = seen
      .filter(({ method }) => method === 'PUT')
      .map(({ headers }) => headers['if-match']);
    expect(asked).toEqual(['"1"', '1', '"1"', '1']);
  });

  it('reads a missing token from the head, if the head is its own', async () => {
    const answer = (text: string, headers: Record<string, string>) =>
      answering((request, response) =>
        request.method === 'PUT'
          ? response.writeHead(200).end()
          : response.writeHead(200, headers).end(text),
      );
    const own = await answer('mine', { ETag: '"2"' });
    expect(await swap(own.remote)).toEqual({ state: 'swapped', token: '"2"' });
    const other = await answer('theirs', { ETag: '"3"' });
    expect(await swap(other.remote)).toMatchObject({ state: 'unknown' });
    const hidden = await answer('mine', {});
    await expect(swap(hidden.remote)).rejects.toMatchObject(ofKind('remote/unsafe'));
    const weak = await answer('mine', { ETag: 'W/"2"' });
    await expect(swap(weak.remote)).rejects.toMatchObject(ofKind('remote/unsafe'));
  });
});

describe('a range', () => {
  const range = { from: 2, to: 6 };
  it('is cut out of the answer of a server without ranges', async () => {
    const { remote } = await always(200, {}, OBJECT);
    expect(await remote.get(NAME, range)).toEqual(OBJECT.slice(2, 6));
  });
  it('is refused if it is longer than requested', async () => {
    const { remote } = await always(206, {}, OBJECT);
    await expect(remote.get(NAME, range)).rejects.toMatchObject({
      ...ofKind('remote/status'),
    });
  });
  it('is refused if it is a different one', async () => {
    const { remote } = await always(206, { 'Content-Range': 'bytes 3-6/16' }, OBJECT.slice(3, 7));
    await expect(remote.get(NAME, range)).rejects.toMatchObject({
      ...ofKind('remote/status'),
    });
  });
  it('is requested as one range, without other headers', async () => {
    const { remote, seen } = await always(
      206,
      { 'Content-Range': 'bytes 2-5/16' },
      OBJECT.slice(2, 6),
    );
    await remote.get(NAME, range);
    expect(seen[0]?.headers.range).toBe('bytes=2-5');
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });
});

describe('a list', () => {
  it.each([
    ['', 'nothing'],
    ['{}', 'no array'],
    ['[1]', 'no objects'],
    ['[{"name":"d/x","length":1,"modifiedMs":1}]', 'a name of another kind'],
    [`[{"name":"${NAME}","length":-1,"modifiedMs":1}]`, 'a length below 0'],
    [`[{"name":"${NAME}","length":1}]`, 'no age'],
  ])('that is %s is refused: %s', async (text) => {
    const { remote } = await always(200, {}, text);
    await expect(remote.list('p/')).rejects.toMatchObject(ofKind('remote/status'));
  });
});

describe('a server that is silent', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }),
  );

  it('is given up after 30 seconds without a byte', async () => {
    const call = httpRemote({
      url: 'http://silent.example',
      fetch: (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    }).readHead('main');
    const settled = vi.fn();
    call.catch(settled);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2000);
    await expect(call).rejects.toMatchObject({ code: 'offline' });
  });
});

describe('the probe', () => {
  it('reports an unreadable ETag', async () => {
    const heads = new Map<string, string>();
    const { remote } = await answering((request, response) => {
      const { method = '', url = '' } = request;
      if (method === 'GET')
        return response.writeHead(heads.has(url) ? 200 : 404).end(heads.get(url));
      if (method === 'DELETE') return response.writeHead(204).end();
      heads.set(url, 'written');
      return response.writeHead(200).end();
    });
    await expect(probeRemote(remote)).rejects.toMatchObject({
      ...ofKind('remote/unsafe'),
      message: expect.stringContaining('ExposeHeaders'),
    });
  });

  it('reports a read-only static server', async () => {
    const { remote } = await answering((request, response) =>
      response.writeHead(request.method === 'GET' ? 404 : 405).end(),
    );
    await expect(probeRemote(remote)).rejects.toMatchObject({
      ...ofKind('remote/status'),
      status: 405,
      message: expect.stringContaining('read-only'),
    });
  });
});

describe('httpRemote()', () => {
  it.each([
    [''],
    ['x'],
    ['ftp://a'],
    ['http://'],
    ['https://a?b'],
    ['https://a#b'],
    ['https://u@a'],
  ])('refuses the address %s', (url) => {
    expect(() => httpRemote({ url })).toThrow(expect.objectContaining(ofKind('invalid-argument')));
  });
  it('refuses options that it does not know', () => {
    const options = { url: 'http://a', key: 1 } as unknown as { url: string };
    expect(() => httpRemote(options)).toThrow(expect.objectContaining(ofKind('invalid-argument')));
  });
});
