/** Collections of a bucket in a real S3 store, and of a folder by the reference server. Their clocks run fast. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hex } from '../../hedgerow/src/base/hex.js';
import { pause } from '../../hedgerow/src/base/pauses.js';
import { s3Remote } from '../../hedgerow/src/sync/remote/adapters/s3.js';
import { hashedName, httpRemote, type Remote } from '../../hedgerow/src/sync/remote/index.js';
import {
  checkLive,
  DAY,
  liveNames,
  objectsOf,
} from '../../hedgerow/test/support/doubles/collected-remote.js';
import { BUCKET, CREDENTIALS, startGateway } from '../../hedgerow/test/support/gateway.mjs';
import { deep } from '../../hedgerow/test/support/property.js';
import { random } from '../../hedgerow/test/support/random.js';
import { device, rowsOf } from '../../hedgerow/test/support/worlds/sync-devices.js';
import { folderRemote } from '../src/folder/folder-remote.js';
import { serveRemote } from '../src/serve-remote.js';

/** The length of a second in the store. */
const SECOND_IS = 2 * DAY;

/** A remote whose times pass faster. */
function fast(inner: Remote): Remote {
  const begin = Date.now();
  const told = (ms: number) => begin + ((ms - begin) / 1000) * SECOND_IS;
  const timed = <T extends { modifiedMs: number | undefined }>(one: T): T =>
    one.modifiedMs === undefined ? one : { ...one, modifiedMs: told(one.modifiedMs) };
  return {
    readHead: async (...call) => {
      const head = await inner.readHead(...call);
      return head && timed(head);
    },
    list: async (...call) => (await inner.list(...call)).map(timed),
    readHeadSince: (...call) => inner.readHeadSince(...call),
    swapHead: (...call) => inner.swapHead(...call),
    get: (...call) => inner.get(...call),
    put: (...call) => inner.put(...call),
    remove: (...call) => inner.remove(...call),
  };
}

let endpoint = '';
let stop = async () => {};
const folder = mkdtempSync(join(tmpdir(), 'collect-'));
beforeAll(async () => {
  ({ endpoint, stop } = await startGateway());
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

async function collects(inner: Remote): Promise<void> {
  const remote = fast(inner);
  const from = random(6);
  const one = await device(remote);
  // More than the tail holds.
  for (let nth = 0; nth < 90; nth++) {
    await one.db.put(`k${nth % 9}`, hex(from.bytes(6000)));
    await one.link.push();
  }
  const orphan = from.bytes(100);
  await remote.put(hashedName('p', orphan), orphan);
  const before = (await objectsOf(inner)).size;
  const live = await liveNames(inner);
  expect(before).toBeGreaterThan(live.size + 10);
  let deleted = 0;
  await expect
    .poll(
      async () => {
        const result = await one.link.collect();
        deleted += result.deleted.objects;
        await pause(500);
        return result.waiting.objects + result.kept.objects;
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(0);
  expect(deleted).toBe(before - live.size);
  await checkLive(inner);
  expect([...(await objectsOf(inner)).keys()].sort()).toEqual([...live].sort());
  const clone = await device(inner);
  await clone.link.pull();
  expect(await rowsOf(clone.db)).toEqual(await rowsOf(one.db));
}

it('a device collects a bucket of S3', async () => {
  const options = { endpoint, bucket: BUCKET, pathStyle: true, prefix: 'collected/' };
  await collects(s3Remote({ ...options, credentials: CREDENTIALS }));
});

deep('collects a folder', () => collects(folderRemote(join(folder, 'one'))));

deep('collects by the reference server', async () => {
  const server = await serveRemote(folderRemote(join(folder, 'two')));
  try {
    await collects(httpRemote({ url: server.url }));
  } finally {
    await server.close();
  }
});
