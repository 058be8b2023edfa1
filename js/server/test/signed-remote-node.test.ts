/**
 * Signed heads over the remotes that need Node: a folder, the reference server, and a folder on a static web server.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, assert, describe, expect, it } from 'vitest';
import { MAX_UNSIGNED_HEAD_BYTES } from '../../hedgerow/src/sync/remote/format/format-limits.js';
import { httpRemote, memoryRemote } from '../../hedgerow/src/sync/remote/index.js';
import { remoteContract } from '../../hedgerow/test/support/contracts/remote-contract.js';
import { failure } from '../../hedgerow/test/support/models/store-model.js';
import { isDeep, sampled } from '../../hedgerow/test/support/property.js';
import { PRIVATE, signedBy } from '../../hedgerow/test/support/signed-keys.js';
import { device, many } from '../../hedgerow/test/support/worlds/sync-devices.js';
import { folderRemote } from '../src/folder/folder-remote.js';
import { serveRemote } from '../src/serve-remote.js';

const writes = signedBy(PRIVATE);
const reads = signedBy(undefined);
const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-signed-'));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

it('bytes of shared memory can be signed', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(40)).fill(7);
  const remote = writes(memoryRemote());
  await remote.swapHead('main', undefined, shared);
  expect((await remote.readHead('main'))?.bytes).toEqual(new Uint8Array(40).fill(7));
});

/** Other tests cover each remote without signatures, and signatures in memory: this is a sample of both. */
const cases = sampled(remoteContract, 5);

describe('over folderRemote()', () => {
  const folder = newFolder();
  for (const { name, run } of cases) {
    it(name, () => run(() => writes(folderRemote(folder)), assert, MAX_UNSIGNED_HEAD_BYTES));
  }
});

describe('over httpRemote() and the reference server', () => {
  const server = serveRemote(memoryRemote());
  afterAll(async () => (await server).close());
  for (const { name, run } of cases) {
    it(name, async () => {
      const { url } = await server;
      await run(() => writes(httpRemote({ url })), assert, MAX_UNSIGNED_HEAD_BYTES);
    });
  }
});

it('a reader follows a folder on a static server, and refuses the folder after a foreign edit', async () => {
  const folder = newFolder();
  const a = await device(writes(folderRemote(folder)));
  await a.db.putMany(many(isDeep ? 5000 : 1000, 'first'));
  await a.link.push();
  // It has no ranges, ETags or times, and its operator may change the head.
  let change = (bytes: Uint8Array) => bytes;
  const server = createServer((request, response) => {
    // A read that bypasses caches has a query.
    const path = request.url?.split('?')[0] ?? '';
    try {
      const bytes = readFileSync(join(folder, path));
      response.end(path.startsWith('/h/') ? change(bytes) : bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const follower = await device(reads(httpRemote({ url })));
    await follower.link.pull();
    expect(follower.db.root).toBe(a.db.root);
    await a.db.put('a', 1);
    await a.link.push();
    change = (bytes) => bytes.with(100, (bytes[100] as number) ^ 1);
    await expect(follower.link.pull()).rejects.toEqual(failure('remote/data', { object: 'head' }));
    expect(await follower.db.get('a')).toBeUndefined();
    change = (bytes) => bytes;
    await follower.link.pull();
    expect(follower.db.root).toBe(a.db.root);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
