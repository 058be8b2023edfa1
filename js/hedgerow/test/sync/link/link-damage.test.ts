/** Damage to a store's data about a remote: the link begins again, and no waiting row is lost. */
import { afterEach, expect, it } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { memory, open, repairStore, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { buildLinkNames } from '../../../src/sync/link/link-ref-names.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { random } from '../../support/random.js';
import { device, rowsOf } from '../../support/worlds/sync-devices.js';

const ROWS = 600;
const WAITING = 6;

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

interface Scene {
  readonly remote: Remote;
  readonly storage: WatchedStorage;
  /** The segments of the clone. */
  readonly cloned: ReadonlySet<number>;
}

/** A store with a pushed history, a commit of another device at the remote, and rows that wait. */
async function scene(rowBytes = 2000): Promise<Scene> {
  const remote = memoryRemote();
  const from = random(43);
  const storage = watched(memory());
  const other = await device(remote);
  const name = (nth: number) => `k/${String(nth).padStart(4, '0')}`;
  // By default so many bytes that the remote has a checkpoint.
  await other.db.putMany(
    Array.from({ length: ROWS }, (_, nth) => [name(nth), hex(from.bytes(rowBytes))]),
  );
  await other.link.push();
  const { db, link } = await device(remote, {}, { storage });
  await link.pull();
  const cloned = new Set(storage.stored.keys());
  await other.db.put('other', 1);
  await other.db.put('both', 'theirs');
  await other.link.push();
  await other.db.close();
  await db.put('both', 'ours');
  await link.pull();
  for (let nth = 0; nth < 3; nth++) {
    await db.put(`pushed/${nth}`, nth);
    await link.push();
  }
  for (let nth = 0; nth < WAITING; nth++) await db.put(`waits/${nth}`, nth);
  await db.close();
  return { remote, storage, cloned };
}

/** Spoils segments at each read. */
function spoil(storage: WatchedStorage, ids: readonly number[]): void {
  storage.hooks.read = (id, bytes) => (ids.includes(id) ? bytes.map((byte) => byte ^ 0x5a) : bytes);
}

/** Opens the store, after a repair if necessary. Resolves to the losses of the repair. */
async function openAgain(storage: WatchedStorage) {
  const mend = async (how: Parameters<typeof repairStore>[1]) =>
    repairStore('app', { storage, ...how }).catch(() =>
      repairStore('app', { storage, ...how, salvage: true }),
    );
  let [dropped, lost] = [0, 0];
  const db = await open('app', { storage }).catch(async () => {
    const done = await mend({});
    [dropped, lost] = [done.commitsDropped, done.rowsLost];
    return open('app', { storage });
  });
  opened.push(db);
  return { db, dropped, lost };
}

/** Pulls, pushes, and expects the same rows on all devices: all pushed rows, and all waiting ones. */
async function expectWhole({ remote }: Scene, db: Store, waiting: number): Promise<void> {
  const link = await db.connect(bucket(remote, { probe: false }));
  await link.pull();
  await link.push();
  const rows = await rowsOf(db);
  const found = (prefix: string) => Object.keys(rows).filter((key) => key.startsWith(prefix));
  expect(found('k/')).toHaveLength(ROWS);
  expect(found('pushed/')).toHaveLength(3);
  expect(found('waits/').length).toBeGreaterThanOrEqual(waiting);
  expect(rows).toMatchObject({ other: 1, both: 'theirs' });
  const fresh = await device(remote);
  await fresh.link.pull();
  expect(await rowsOf(fresh.db)).toEqual(rows);
  await fresh.db.close();
}

it('after damage to each segment in turn and a repair, the store syncs, and has all rows of both sides', async () => {
  const { storage: first } = await scene(20);
  const count = first.stored.size;
  expect(count).toBeGreaterThan(10);
  let gaveUp = 0;
  for (let nth = 0; nth < count; nth++) {
    const now = await scene(20);
    const id = [...now.storage.stored.keys()][nth] as number;
    spoil(now.storage, [id]);
    const { db, dropped, lost } = await openAgain(now.storage);
    const done = await db.health.repair().catch(() => db.health.repair({ salvage: true }));
    expect(await db.health.verify(), `segment ${nth} of ${count}`).toMatchObject({ ok: true });
    if (lost + done.rowsLost > 0) gaveUp += 1;
    await expectWhole(now, db, WAITING - dropped - done.commitsDropped);
  }
  // The repair dropped rows that the remote had, and the sync brought them back.
  expect(gaveUp).toBeGreaterThan(0);
});

it('a store that went back behind its last push deletes no row at the remote', async () => {
  const now = await scene();
  const later = [...now.storage.stored.keys()].filter((id) => !now.cloned.has(id));
  spoil(now.storage, later);
  const { db, dropped } = await openAgain(now.storage);
  expect(dropped).toBeGreaterThan(WAITING);
  await expectWhole(now, db, 0);
});

it('a store that went back behind a merge deletes no row at the remote, though its link is sound', async () => {
  const remote = memoryRemote();
  const other = await device(remote);
  await other.db.put('a', 1);
  await other.link.push();
  const storage = watched(memory());
  const first = await device(remote, {}, { storage });
  await first.link.pull();
  const clones = storage.written.length;
  await other.db.put('other', 1);
  await other.link.push();
  await first.db.put('mine', 1);
  await first.link.pull();
  await first.db.close();
  const merged = storage.written.slice(clones).filter(({ move }) => move?.name === 'main');
  spoil(
    storage,
    merged.flatMap(({ segments }) => segments.map(({ id }) => id)),
  );
  const { db, dropped } = await openAgain(storage);
  expect(dropped).toBe(2);
  expect(await db.health.verify()).toMatchObject({ ok: true });
  const link = await db.connect(bucket(remote, { probe: false }));
  expect(link.reset).toEqual([]);
  await link.pull();
  await link.push();
  expect(await rowsOf(db)).toEqual({ a: 1, other: 1 });
  await other.link.pull();
  expect(await rowsOf(other.db)).toEqual({ a: 1, other: 1 });
});

const COMMITS = ['origin', 'fork', 'pushing', 'landing', 'checkpoint'] as const;

/** Makes refs of the store name a commit that does not exist. */
async function lose(
  { storage }: Pick<Scene, 'storage'>,
  ...names: readonly string[]
): Promise<void> {
  const segments = await storage.open('app', { mustExist: true });
  const { refs } = await segments.load();
  const also = refs
    .filter(({ name }) => names.includes(name))
    .map((ref) => ({
      ...ref,
      commitBytes: new Uint8Array(32).fill(7),
      generation: ref.generation + 1,
      expected: ref.generation,
    }));
  expect(also).toHaveLength(names.length);
  expect(await segments.write({ segments: [], also, durability: 'strict' })).toBeTruthy();
  await segments.close();
}

const refOf = (name: (typeof COMMITS)[number] | 'log') => buildLinkNames('origin', 'main')[name];

it.each(COMMITS)('a link opens and reports a missing commit of its %s', async (ref) => {
  const now = await scene();
  await lose(now, refOf(ref));
  const { db } = await openAgain(now.storage);
  const link = await db.connect(bucket(now.remote, { probe: false }));
  expect(link.reset).toEqual([ref]);
  await expectWhole(now, db, WAITING);
});

it('a link opens though all its commits are gone', async () => {
  const now = await scene();
  await lose(now, ...COMMITS.map(refOf));
  const { db } = await openAgain(now.storage);
  expect((await db.connect(bucket(now.remote, { probe: false }))).reset).toEqual(COMMITS);
  await expectWhole(now, db, WAITING);
});

it.each(COMMITS)(
  'verify finds that the commit of the %s is gone, and repair reports it',
  async (ref) => {
    const now = await scene();
    await lose(now, refOf(ref));
    const { db } = await openAgain(now.storage);
    const [lost] = (await db.health.verify()).others;
    expect(lost).toMatchObject({
      ref: refOf(ref),
      faults: [{ code: 'missing-chunk', kind: 'commit' }],
    });
    const { others, commitsDropped } = await db.health.repair();
    expect(others).toEqual([{ ...lost, done: 'forgotten', commitsDropped: 0, rowsLost: 0 }]);
    expect(commitsDropped).toBe(0);
    expect(await db.health.verify()).toMatchObject({ ok: true, others: [] });
    await expectWhole(now, db, WAITING);
  },
);

it('an open link goes on after a repair of its data', async () => {
  const now = await scene();
  const { db } = await openAgain(now.storage);
  const link = await db.connect(bucket(now.remote, { probe: false }));
  await link.pull();
  await lose(now, refOf('origin'), refOf('checkpoint'));
  await link.repair();
  await db.put('waits/more', 1);
  await link.push();
  expect(link.reset).toEqual(['origin']);
  await expectWhole(now, db, WAITING + 1);
});

it('an open link loses no row when another tab repairs its data', async () => {
  const now = await scene(20);
  const { db } = await openAgain(now.storage);
  const link = await db.connect(bucket(now.remote, { probe: false }));
  await link.pull();
  await lose(now, refOf('origin'));
  const { others } = await repairStore('app', { storage: now.storage });
  expect(others).toMatchObject([{ ref: refOf('origin'), done: 'forgotten' }]);
  // This tab has not heard of it. The call may fail, and the test may repeat it.
  await link.pull().catch(() => {});
  expect(await db.count({ prefix: 'k/' })).toBe(ROWS);
  await expectWhole(now, db, WAITING);
});

it('a log of conflicts goes back to its newest sound commit', async () => {
  const now = await scene();
  await lose(now, refOf('log'));
  const { db } = await openAgain(now.storage);
  const { others } = await db.health.repair();
  expect(others).toMatchObject([{ ref: refOf('log'), done: 'back', commitsDropped: 1 }]);
  const link = await db.connect(bucket(now.remote, { probe: false }));
  const keys: string[] = [];
  for await (const { key } of link.conflicts()) keys.push(key);
  expect(keys).toEqual(['both']);
});

it('a branch of the app goes back to its newest sound commit', async () => {
  const storage = watched(memory());
  const db = await open('app', { storage });
  opened.push(db);
  await db.putMany([
    ['a', 1],
    ['b', 1],
  ]);
  const draft = await db.branches.open('draft');
  await draft.put('c', 1);
  await lose({ storage }, 'branch/draft');
  const { others } = await db.health.repair();
  expect(others).toMatchObject([{ ref: 'branch/draft', done: 'back', commitsDropped: 1 }]);
  expect(await db.health.verify()).toMatchObject({ ok: true, others: [] });
  await db.branches.merge('draft');
  expect(await rowsOf(db)).toEqual({ a: 1, b: 1, c: 1 });
});

it('a link begins again after the deletion of its branch, open or closed', async () => {
  const now = await scene();
  const { db } = await openAgain(now.storage);
  const link = await db.connect(bucket(now.remote, { probe: false }));
  await db.branches.delete(link.originName);
  await db.put('waits/more', 1);
  await link.pull();
  expect(link.reset).toEqual(['origin']);
  await expectWhole(now, db, WAITING + 1);
  await link.close();
  await db.branches.delete(link.originName);
  await db.put('waits/most', 1);
  expect((await db.connect(bucket(now.remote, { probe: false }))).reset).toEqual(['origin']);
  await expectWhole(now, db, WAITING + 2);
});

it('a sound link reports no damage', async () => {
  const now = await scene();
  const { db } = await openAgain(now.storage);
  expect((await db.connect(bucket(now.remote, { probe: false }))).reset).toEqual([]);
  expect(await db.health.verify()).toMatchObject({ ok: true, others: [] });
  await expectWhole(now, db, WAITING);
});
