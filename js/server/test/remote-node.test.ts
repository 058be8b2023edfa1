/** Remotes that need Node: folders, the reference server, and HTTP servers that misbehave. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, assert, describe, expect, it } from 'vitest';
import {
  hashedName,
  headName,
  httpRemote,
  memoryRemote,
  probeRemote,
} from '../../hedgerow/src/sync/remote/index.js';
import { remoteContract } from '../../hedgerow/test/support/contracts/remote-contract.js';
import { deep, isDeep } from '../../hedgerow/test/support/property.js';
import { folderRemote } from '../src/folder/folder-remote.js';
import { serveRemote } from '../src/serve-remote.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-remote-'));
  folders.push(folder);
  return folder;
}
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function served(...[remote, options]: Parameters<typeof serveRemote>): Promise<string> {
  const server = await serveRemote(remote, options);
  ends.push(() => server.close());
  return server.url;
}

describe('folderRemote()', () => {
  const folder = newFolder();
  for (const { name, run } of remoteContract)
    it(name, () => run(() => folderRemote(folder), assert));

  it('keeps the head and the objects as plain files, for static servers', async () => {
    const folder = newFolder();
    const remote = folderRemote(folder);
    let token: string | undefined;
    for (let step = 0; step < 40; step++) {
      const swap = await remote.swapHead('Main', token, bytes(`state ${step}`));
      token = swap.state === 'swapped' ? swap.token : undefined;
    }
    const object = bytes('an object');
    await remote.put(hashedName('p', object), object);
    expect(readFileSync(join(folder, headName('Main')), 'utf8')).toBe('state 39');
    expect(readFileSync(join(folder, hashedName('p', object)), 'utf8')).toBe('an object');
    expect(readdirSync(join(folder, '.temporary'))).toEqual([]);
    expect(readdirSync(join(folder, '.heads', headName('Main').slice(2)))).toHaveLength(32);
  });

  it('refuses a writer that slept while others went far', async () => {
    const folder = newFolder();
    const remote = folderRemote(folder);
    const first = await remote.swapHead('main', undefined, bytes('first'));
    let token = first.state === 'swapped' ? first.token : undefined;
    for (let step = 0; step < 70; step++) {
      const swap = await remote.swapHead('main', token, bytes(`state ${step}`));
      token = swap.state === 'swapped' ? swap.token : undefined;
    }
    const old = first.state === 'swapped' ? first.token : undefined;
    expect((await remote.swapHead('main', old, bytes('late'))).state).toBe('lost');
    expect((await remote.readHead('main'))?.bytes).toEqual(bytes('state 69'));
  });

  it('loses no step when several processes swap', async () => {
    const folder = newFolder();
    const child = join(import.meta.dirname, 'remote-child.mjs');
    const [processes, steps] = isDeep ? [4, 25] : [2, 25];
    const all = Array.from({ length: processes }, async (_, writer) => {
      const args = [child, folder, String(writer), String(steps)];
      const running = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      expect((await once(running, 'exit'))[0]).toBe(0);
    });
    await Promise.all(all);
    const head = await folderRemote(folder).readHead('main');
    const written = new TextDecoder().decode(head?.bytes).trim().split(' ');
    expect(written).toHaveLength(processes * steps);
    expect(new Set(written).size).toBe(processes * steps);
    expect(
      readFileSync(join(folder, 'h', 'main'), 'utf8')
        .trim()
        .split(' '),
    ).toEqual(written);
  });

  it('survives writers that are killed in the middle of swaps', async () => {
    const folder = newFolder();
    const child = join(import.meta.dirname, 'remote-child.mjs');
    const remote = folderRemote(folder);
    const rounds = isDeep ? 5 : 2;
    for (let round = 0; round < rounds; round++) {
      const args = [child, folder, `k${round}`, '100000'];
      const running = spawn(process.execPath, args, { stdio: 'ignore' });
      while (
        (await remote.readHead('main').then((head) => head?.bytes.length ?? 0)) <
        20 * (round + 1)
      ) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      running.kill('SIGKILL');
      await once(running, 'exit');
      const head = await remote.readHead('main');
      const swap = await remote.swapHead(
        'main',
        head?.token,
        new Uint8Array([...(head?.bytes ?? []), ...bytes(` me${round}`)]),
      );
      expect(swap.state).toBe('swapped');
    }
    expect(readFileSync(join(folder, 'h', 'main'), 'utf8')).toMatch(
      new RegExp(` me${rounds - 1}$`),
    );
  });
});

describe('httpRemote() with serveRemote()', () => {
  const folder = newFolder();
  const token = 'a secret';
  for (const { name, run } of remoteContract) {
    // The same tests over the folder alone, and the swaps of 32 clients over HTTP, find it too.
    const test = name.startsWith('8 writers') ? deep : it;
    test(`over a folder: ${name}`, async () => {
      const url = await served(folderRemote(folder), { deleteToken: token });
      await run(() => httpRemote({ url, token: () => token }), assert);
    });
  }

  it('needs the token for all, or for writes alone', async () => {
    const inner = memoryRemote();
    const [closed, open] = [
      await served(inner, { token }),
      await served(inner, { token, publicReads: true }),
    ];
    await inner.swapHead('main', undefined, bytes('a head'));
    for (const wrong of [undefined, '', 'another', `${token}x`, token.toUpperCase()]) {
      const remote = httpRemote({ url: closed, token: wrong });
      const calls = [
        () => remote.readHead('main'),
        () => remote.list('h/'),
        () => remote.get('hedgerow'),
        () => remote.swapHead('main', '"1"', bytes('x')),
        () => remote.put('hedgerow', bytes('x')),
        () => remote.remove(['h/main']),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ code: 'unauthorized', retryable: false });
      }
      const reader = httpRemote({ url: open, token: wrong });
      expect((await reader.readHead('main'))?.bytes).toEqual(bytes('a head'));
      await expect(reader.swapHead('main', '"1"', bytes('x'))).rejects.toMatchObject({
        code: 'unauthorized',
      });
    }
  });

  it('answers a poll with 304 and no body', async () => {
    const url = await served(memoryRemote());
    const statuses: number[] = [];
    const remote = httpRemote({
      url,
      fetch: async (...args) => {
        const response = await fetch(...args);
        statuses.push(response.status);
        return response;
      },
    });
    const swap = await remote.swapHead('main', undefined, bytes('a head'));
    expect(await remote.readHeadSince('main', swap.state === 'swapped' ? swap.token : '')).toBe(
      'unchanged',
    );
    expect(statuses).toEqual([201, 304]);
  });

  it('reads a cached answer of a browser to its end, so that the cache does not drop it', async () => {
    const url = await served(memoryRemote());
    const ends: string[] = [];
    const cached = (part: Uint8Array) => {
      const parts = [part];
      const pull = (controller: ReadableStreamDefaultController) => {
        const next = parts.shift();
        if (next !== undefined) return controller.enqueue(next);
        ends.push('read');
        controller.close();
      };
      return new ReadableStream({ pull, cancel: () => void ends.push('cancelled') });
    };
    const remote = httpRemote({
      url,
      fetch: async () => new Response(cached(bytes('a head')), { headers: { ETag: '"1"' } }),
    });
    expect(await remote.readHeadSince('main', '"1"')).toBe('unchanged');
    expect(ends).toEqual(['read']);
  });

  it('checks that a name is the hash of the bytes', async () => {
    const url = await served(memoryRemote());
    const name = hashedName('p', bytes('right'));
    await expect(httpRemote({ url }).put(name, bytes('wrong'))).rejects.toMatchObject({
      code: 'remote',
      detail: 'status',
      status: 400,
    });
    expect(await httpRemote({ url }).get(name)).toBeUndefined();
  });

  it('returns the rest of an object from a byte on', async () => {
    const url = await served(memoryRemote());
    const name = hashedName('p', bytes('0123456789'));
    await httpRemote({ url }).put(name, bytes('0123456789'));
    const ask = (range: string) => fetch(`${url}${name}`, { headers: { Range: range } });
    const answers = await Promise.all(['bytes=4-', 'bytes=10-', 'bytes=-4'].map(ask));
    expect(answers.map(({ status }) => status)).toEqual([206, 416, 200]);
    expect(answers[0]?.headers.get('content-range')).toBe('bytes 4-9/*');
    expect(await answers[0]?.text()).toBe('456789');
  });

  it('reports swaps by server-sent events', async () => {
    const url = await served(memoryRemote());
    const response = await fetch(`${url}events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const swap = await httpRemote({ url }).swapHead('main', undefined, bytes('x'));
    let text = '';
    while (!text.includes('data:')) text += new TextDecoder().decode((await reader.read()).value);
    const [, event = ''] = /data: (.*)\n\n/.exec(text) ?? [];
    expect(JSON.parse(event)).toEqual({
      branch: 'main',
      token: swap.state === 'swapped' && swap.token,
    });
    await reader.cancel();
  });

  it('refuses requests that no client sends', async () => {
    const url = await served(memoryRemote());
    const hash = 'a'.repeat(64);
    const status = async (method: string, path: string, headers = {}, body?: BodyInit) =>
      (
        await fetch(url + path, {
          method,
          headers,
          ...(body !== undefined && { body, duplex: 'half' }),
        } as RequestInit)
      ).status;
    expect(await status('PUT', 'h/main', {}, 'x')).toBe(428);
    expect(await status('PUT', 'h/main', { 'If-None-Match': '"1"' }, 'x')).toBe(428);
    expect(await status('PUT', 'h/main', { 'If-None-Match': '*', 'If-Match': '"1"' }, 'x')).toBe(
      428,
    );
    expect(await status('PUT', 'h/main', { 'If-Match': '"1"' }, 'x')).toBe(404);
    expect(await status('PUT', 'h/main', { 'If-None-Match': '*' }, 'x'.repeat(65_537))).toBe(413);
    expect(await status('PUT', `p/${hash}`, {}, new Blob([new Uint8Array((16 << 20) + 1)]))).toBe(
      413,
    );
    expect(await status('PUT', `p/${hash}`, {}, new Blob(['x']).stream())).toBe(411);
    expect(await status('PUT', 'etc/passwd', {}, 'x')).toBe(404);
    expect(await status('GET', '%2e%2e/%2e%2e/etc/passwd')).toBe(404);
    expect(await status('GET', '%c3')).toBe(400);
    expect(await status('GET', '?list=')).toBe(400);
    expect(await status('POST', 'h/main', {}, 'x')).toBe(405);
    expect(await status('GET', `p/${hash}`)).toBe(404);
  });

  it('runs as a program', async () => {
    const folder = newFolder();
    const program = join(import.meta.dirname, '..', 'dist', 'command', 'bin.js');
    const env = { ...process.env, HEDGEROW_TOKEN: token };
    const running = spawn(process.execPath, [program, 'serve', folder, '--port', '0'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(running.stdout, 'data')) as [Buffer];
      const url = String(line).trim().split(' ').pop() as string;
      await probeRemote(httpRemote({ url, token }));
      await expect(probeRemote(httpRemote({ url }))).rejects.toMatchObject({
        code: 'unauthorized',
      });
    } finally {
      running.kill();
    }
    const refused = spawn(process.execPath, [program, 'serve', folder, '--host', '0.0.0.0'], {
      env: { ...env, HEDGEROW_TOKEN: '' },
      stdio: 'ignore',
    });
    expect((await once(refused, 'exit'))[0]).toBe(2);
  });
});
