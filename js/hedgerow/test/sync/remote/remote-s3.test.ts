/** Remotes in real S3 stores: one that keeps its promises, and one that ignores conditions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, assert, beforeAll, describe, expect, it } from 'vitest';
import { parseHttpUrl, presign } from '../../../src/sync/remote/adapters/presign.js';
import { s3Remote } from '../../../src/sync/remote/adapters/s3.js';
import { hashedName, probeRemote } from '../../../src/sync/remote/index.js';
import { remoteContract } from '../../support/contracts/remote-contract.js';
import { BUCKET, CREDENTIALS, startGateway } from '../../support/gateway.mjs';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('s3Remote() with versitygw', () => {
  let endpoint = '';
  let stop = async () => {};
  beforeAll(async () => {
    ({ endpoint, stop } = await startGateway());
  });
  afterAll(() => stop());
  const options = (prefix = 'a b&/') =>
    ({ endpoint, bucket: BUCKET, pathStyle: true, prefix, credentials: CREDENTIALS }) as const;

  for (const { name, run } of remoteContract) {
    it(name, () => run(() => s3Remote(options()), assert));
  }

  it('works by addresses that the app signs', async () => {
    const sign = async (request: {
      method: string;
      key?: string | undefined;
      query: Readonly<Record<string, string>>;
    }) =>
      presign({
        ...{ method: request.method, query: request.query, region: 'us-east-1' },
        place: parseHttpUrl(
          `${endpoint}/${BUCKET}/${request.key ?? ''}`.replaceAll('%', '%25'),
        ) as never,
        ...{ credentials: CREDENTIALS, atMs: Date.now(), expiresS: 60 },
      });
    const remote = s3Remote({ prefix: 'signed/', sign });
    await probeRemote(remote);
    const object = bytes('an object');
    await remote.put(hashedName('p', object), object);
    expect(await remote.get(hashedName('p', object))).toEqual(object);
    expect(await remote.list('p/')).toHaveLength(1);
  });

  it('lists more than a page', async () => {
    const remote = s3Remote(options('many/'));
    const names = Array.from({ length: 1100 }, (_, at) => hashedName('d', bytes(String(at))));
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => remote.put(name, new Uint8Array())));
    }
    const listed = await remote.list('d/');
    expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
  });

  it('distinguishes wrong keys from a bucket that does not exist', async () => {
    const wrong = { ...CREDENTIALS, secretAccessKey: 'wrong' };
    const stranger = s3Remote({ ...options(), credentials: wrong });
    await expect(stranger.readHead('main')).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(probeRemote(stranger)).rejects.toMatchObject({ code: 'unauthorized' });
    const nowhere = s3Remote({ ...options(), bucket: 'nowhere' });
    await expect(nowhere.readHead('main')).rejects.toMatchObject({
      code: 'remote',
      detail: 'gone',
    });
    await expect(probeRemote(nowhere)).rejects.toMatchObject({ code: 'remote', detail: 'gone' });
  });
});

describe('s3Remote() with s3rver, which ignores conditions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-s3rver-'));
  let endpoint = '';
  let stop = async () => {};
  beforeAll(async () => {
    const S3rver = createRequire(import.meta.url)('s3rver');
    const configureBuckets = [{ name: BUCKET, configs: [] }];
    const server = new S3rver({
      port: 0,
      address: '127.0.0.1',
      silent: true,
      directory: folder,
      configureBuckets,
    });
    const { port } = await server.run();
    endpoint = `http://127.0.0.1:${port}`;
    stop = () => server.close();
  });
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is refused by the probe, which reports the broken rule', async () => {
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    const remote = s3Remote({ endpoint, bucket: BUCKET, pathStyle: true, credentials });
    const swap = await remote.swapHead('main', undefined, bytes('one'));
    expect(swap.state).toBe('swapped');
    expect((await remote.readHead('main'))?.bytes).toEqual(bytes('one'));
    await expect(probeRemote(remote)).rejects.toMatchObject({
      code: 'remote',
      detail: 'unsafe',
      message: expect.stringContaining('If-None-Match'),
    });
    expect((await remote.list('h/')).map(({ name }) => name)).toEqual(['h/main']);
  });
});
