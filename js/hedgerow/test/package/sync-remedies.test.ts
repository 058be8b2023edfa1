/** The remedies on the pages of sync errors, each after its error. */
import { afterEach, expect, it } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../../src/index.js';
import { remoteKeys } from '../../src/sync/encryption/index.js';
import * as sync from '../../src/sync/index.js';
import { bucket } from '../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../src/sync/link/bucket-connection.js';
import { memoryRemote, type Remote } from '../../src/sync/remote/index.js';
import { watched } from '../support/doubles/watched-storage.js';
import { ofKind } from '../support/error-kind.js';
import { random } from '../support/random.js';
import { blocksOf } from '../support/snippet-list.mjs';
import { chunksOfKind, damage, Kind } from '../support/stored-chunks.js';
import { type Folder, restore } from '../support/worlds/copied-remote.js';
import { device, offline, rowsOf } from '../support/worlds/sync-devices.js';
import { closeAll, runBlocks } from './page-examples.js';

afterEach(closeAll);

/** A device after its error, and the rows that it must end with. */
interface Scene {
  readonly db: Store;
  readonly link: BucketConnection;
  readonly remote: Remote;
  readonly rows: Readonly<Record<string, unknown>>;
}

const rejects = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toEqual(expect.objectContaining(ofKind(code)));

async function pushed(remote: Folder = memoryRemote()): Promise<Omit<Scene, 'rows'>> {
  const one = await device(remote);
  await one.db.put('a', 1);
  await one.link.push();
  return { ...one, remote };
}

const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  async rollback() {
    const [remote, backup] = [memoryRemote(), memoryRemote()];
    const { db, link } = await pushed(remote);
    await restore(remote, backup);
    await db.put('b', 1);
    await link.push();
    await restore(backup, remote);
    await db.put('waits', 1);
    await rejects(link.push(), 'rollback');
    return { db, link, remote, rows: { a: 1, b: 1, waits: 1 } };
  },
  async 'remote/gone'() {
    const remote = memoryRemote();
    const { db, link } = await pushed(remote);
    await remote.remove(['h/main']);
    await db.put('waits', 1);
    await rejects(link.push(), 'remote/gone');
    return { db, link, remote, rows: { a: 1, waits: 1 } };
  },
  async 'remote/data'() {
    const remote = memoryRemote();
    const { db, link } = await pushed(remote);
    const long = random(1).bytes(20_000);
    await db.put('long', long);
    await link.push();
    const names = (await remote.list('d/')).map(({ name }) => name as `d/${string}`);
    await remote.remove(names);
    const other = await device(remote);
    await rejects(other.link.pull(), 'remote/data');
    return { db, link, remote, rows: { a: 1, long } };
  },
  async 'corrupt-chunk'() {
    const remote = memoryRemote();
    const storage = watched(memory());
    const first = await device(remote, {}, { storage });
    const rows: [string, unknown][] = Array.from({ length: 3000 }, (_, at) => [`k${at}`, { at }]);
    await first.db.putMany(rows);
    await first.link.push();
    await first.db.close();
    const leaf = chunksOfKind(storage.stored.values(), Kind.leaf)[3];
    if (leaf) damage(storage, leaf);
    const db = await open('app', { storage });
    await rejects(rowsOf(db), 'corrupt-chunk');
    // The page does this before its last block.
    expect((await db.health.repair({ salvage: true })).rowsLost).toBeGreaterThan(0);
    const link = await db.connect(bucket(remote, { probe: false }));
    return { db, link, remote, rows: Object.fromEntries(rows) };
  },
  async 'remote/status'() {
    const remote = memoryRemote();
    const { db, link } = await pushed(remote);
    const { readHeadSince } = remote;
    remote.readHeadSince = async () => {
      throw new HedgerowError('remote/status', 'the server is down', { status: 500 });
    };
    await rejects(link.pull(), 'remote/status');
    remote.readHeadSince = readHeadSince;
    return { db, link, remote, rows: { a: 1 } };
  },
};

it.each(Object.keys(SCENES))(
  'the last remedy after %s ends with equal rows on both sides',
  async (kind) => {
    const { db, link, remote, rows } = await (SCENES[kind] as () => Promise<Scene>)();
    const [code, detail] = kind.split('/');
    const blocks = blocksOf(`docs/errors/${code}.md`).filter((block) => block.detail === detail);
    const last = blocks.at(-1)?.code as string;
    const modules = { 'hedgerow/sync': { ...sync, httpRemote: () => remote } };
    await runBlocks([last], { names: { db, connection: link }, modules });
    expect(await rowsOf(db)).toEqual(rows);
    const other = await device(remote);
    await other.link.pull();
    expect(await rowsOf(other.db)).toEqual(rows);
  },
);

it('a push after remote/unsafe probes the remote again', async () => {
  const remote = memoryRemote();
  const { swapHead } = remote;
  // As a server that ignores conditions.
  remote.swapHead = async (branch, _token, bytes, options) => {
    const now = await remote.readHead(branch);
    return swapHead.call(remote, branch, now?.token, bytes, options);
  };
  const db = await open('app', { storage: memory() });
  await db.put('a', 1);
  const link = await db.connect(bucket(remote));
  await rejects(link.push(), 'remote/unsafe');
  remote.swapHead = swapHead;
  await link.push();
  const other = await device(remote);
  await other.link.pull();
  expect(await rowsOf(other.db)).toEqual({ a: 1 });
});

it('a link with the right key works after wrong-key', async () => {
  const remote = memoryRemote();
  const [right, wrong] = [random(1).bytes(32), random(2).bytes(32)];
  const first = await device(remote, {
    encryption: remoteKeys({ place: 'room', keys: () => right }),
  });
  await first.db.put('a', 1);
  await first.link.push();
  const { db, link } = await device(remote, {
    encryption: remoteKeys({ place: 'room', keys: () => wrong }),
  });
  await db.put('waits', 1);
  await rejects(link.push(), 'wrong-key');
  await link.close();
  const encryption = remoteKeys({ place: 'room', keys: () => right });
  const again = await db.connect(bucket(remote, { probe: false, encryption }));
  await again.pull();
  await again.push();
  expect(await rowsOf(db)).toEqual({ a: 1, waits: 1 });
});

it.each(['offline', 'unauthorized'])('the same call succeeds after %s', async (code) => {
  const remote = memoryRemote();
  const { db, link } = await pushed(remote);
  const { swapHead } = remote;
  remote.swapHead = async () => {
    throw code === 'offline' ? offline() : new HedgerowError('unauthorized', 'signed out');
  };
  await db.put('waits', 1);
  await rejects(link.push(), code);
  remote.swapHead = swapHead;
  await link.push();
  const other = await device(remote);
  await other.link.pull();
  expect(await rowsOf(other.db)).toEqual({ a: 1, waits: 1 });
});
