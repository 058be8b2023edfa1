/** The unchanged `examples/bucket` with a real S3 server: two devices and a reader, which do not have its keys. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveRoom, openRoom } from '../../../../examples/bucket/room.mjs';
import { s3Remote } from '../../src/sync/remote/adapters/s3.js';
import { BUCKET, CREDENTIALS, startGateway } from '../support/gateway.mjs';

const at = (name: string) =>
  fileURLToPath(new URL(`../../../../examples/bucket/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-bucket-'));
const ends: (() => unknown)[] = [];
let [endpoint, s3] = ['', ''];

beforeAll(async () => {
  const gateway = await startGateway();
  ends.push(() => gateway.stop());
  s3 = gateway.endpoint;
  const env = {
    ...process.env,
    ...{ AWS_ENDPOINT_URL_S3: s3, BUCKET, PORT: '0' },
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    MEMBERS: JSON.stringify({ ann: { 7: 'writer' }, bob: { 7: 'writer' }, cem: { 7: 'reader' } }),
  };
  const server = spawn(process.execPath, [at('server.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => server.kill());
  const [line] = await once(createInterface(server.stdout), 'line');
  endpoint = line.replace('signing at ', '');
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

const DENIED = [expect.stringContaining('unauthorized')];

/** Runs a device to its end; resolves to its printed lines, sorted, or to its failure. */
async function device(who: string, ...args: string[]): Promise<string[]> {
  const own = ['--endpoint', endpoint, '--location', join(folder, who)];
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [at('device.mjs'), ...args, ...own],
      {
        env: { ...process.env, TOKEN: who },
      },
    );
    return stdout.trim().split('\n').sort();
  } catch (cause) {
    return [(cause as { stderr: string }).stderr];
  }
}

it('the roles of devices decide who gets and sends notes', async () => {
  expect(await device('ann', '7', 'Buy milk')).toEqual(['Buy milk']);
  expect(await device('bob', '7')).toEqual(['Buy milk']);
  expect(await device('bob', '7', 'Feed the hens')).toEqual(['Buy milk', 'Feed the hens']);
  expect(await device('ann', '7')).toHaveLength(2);
  expect(await device('cem', '7')).toHaveLength(2);
  expect(await device('cem', '7', 'I was here')).toEqual(DENIED);
  expect(await device('ann', '8')).toEqual(DENIED);
  expect(await device('eve', '7')).toEqual(DENIED);
  // There was no probe, and all objects are within the room.
  const remote = s3Remote({
    ...{ endpoint: s3, bucket: BUCKET, pathStyle: true, prefix: 'rooms/7/' },
    credentials: CREDENTIALS,
  });
  expect((await remote.list('h/')).map(({ name }) => name)).toEqual(['h/main']);
});

it('signing out sends pending notes, and deletes the rows', async () => {
  const { memory, open } = await import('hedgerow');
  const storage = memory();
  const who = { ...{ account: 'ann', room: '7', endpoint, storage }, token: () => 'ann' };
  const first = await openRoom(who);
  await first.connection.pull();
  await first.db.put('note/last', { text: 'Gone for today' });
  await leaveRoom(who, first);
  await expect(open('ann in 7', { storage, advanced: { mustExist: true } })).rejects.toMatchObject({
    code: 'not-found',
    detail: 'store',
  });
  expect(await device('bob', '7')).toContain('Gone for today');
  const reader = { ...who, account: 'cem', token: () => 'cem' };
  const second = await openRoom(reader);
  await second.connection.pull();
  await second.db.put('note/unsent', { text: 'Kept' });
  await expect(leaveRoom(reader, second)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await second.db.get('note/unsent')).toEqual({ text: 'Kept' });
});
