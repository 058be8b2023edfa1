/** Repair from a remote: it fetches the damaged chunks alone, and the root stays. */
import { expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { random } from '../../support/random.js';
import { chunksOfKind, damage, Kind, type StoredChunk } from '../../support/stored-chunks.js';
import { asked, keyOf, type lazy, published, rowOf } from '../../support/worlds/lazy-devices.js';

const ROWS = 40_000;
const { leaf: LEAF, inner: INNER, piece: PIECE } = Kind;

const chunks = (storage: WatchedStorage, kind: number) =>
  chunksOfKind(storage.stored.values(), kind);

/** A device with all rows, and a remote with the same rows. */
async function device(change?: (db: Store) => Promise<unknown>) {
  const { remote, from, link } = await published(ROWS);
  const storage = watched(memory());
  const db = await open('app', { storage });
  const own = await db.connect(bucket(remote, { probe: false }));
  await own.pull();
  if (change !== undefined) {
    await change(from);
    await link.push();
    await own.pull();
  }
  const { root } = db;
  await db.close();
  return { remote, storage, root };
}

async function repaired(storage: WatchedStorage, remote: Parameters<typeof lazy>[0], root: string) {
  const db = await open('app', { storage });
  const link = await db.connect(bucket(remote, { probe: false }));
  await link.pull();
  expect((await db.health.verify()).ok).toBe(false);
  const repair = await asked(link, () => link.repair());
  expect(db.root).toBe(root);
  expect(await db.health.verify()).toMatchObject({ ok: true, rows: await db.count(), root });
  await db.close();
  return repair;
}

it.each([
  ['a leaf', LEAF],
  ['an internal node', INNER],
])('repair fetches %s alone: two requests and at most 70 KB', async (_, kind) => {
  const { remote, storage, root } = await device();
  const all = chunks(storage, kind);
  damage(storage, all[all.length >> 1] as StoredChunk);
  const repair = await repaired(storage, remote, root);
  expect(repair.result).toMatchObject({ root, commitsDropped: 0, fetched: 1, lost: [] });
  expect(repair.requests).toBeLessThanOrEqual(2);
  expect(repair.received).toBeLessThanOrEqual(70_000);
  console.log(repair.requests, repair.received);
});

it('repair fetches many chunks and large values from a remote that has moved on by its tail', async () => {
  const large = random(5).bytes(200_000);
  const { remote, storage, root } = await device(async (from) => {
    await from.put(keyOf(300), large);
    await from.putMany([301, 20_000].map((nth) => rowOf(nth, 'changed')));
  });
  const chance = random(9);
  const leaves = chunks(storage, LEAF);
  const damaged = [
    ...Array.from({ length: 20 }, () => chance.pick(leaves)),
    chance.pick(chunks(storage, INNER)),
    chance.pick(chunks(storage, PIECE)),
  ];
  damage(storage, ...damaged);
  const repair = await repaired(storage, remote, root);
  expect(repair.result).toMatchObject({ commitsDropped: 0, rowsLost: 0 });
  expect(repair.result?.fetched).toBeGreaterThan(5);
  const db = await open('app', { storage });
  expect(await db.get(keyOf(300))).toEqual(large);
  expect(await db.get(keyOf(20_000))).toEqual(rowOf(20_000, 'changed')[1]);
  await db.close();
});

it('repair cannot fetch rows that were never pushed, and goes on as without a remote', async () => {
  const { remote, storage } = await device();
  const db = await open('app', { storage });
  const before = storage.stored.size;
  await db.put(keyOf(7), 'mine');
  const link = await db.connect(bucket(remote, { probe: false }));
  await db.close();
  expect(storage.stored.size).toBeGreaterThan(before);
  const own = chunks(storage, LEAF).filter(
    ({ segment }) => segment === [...storage.stored.values()].at(-1),
  );
  damage(storage, ...own);
  const again = await open('app', { storage });
  const relinked = await again.connect(bucket(remote, { probe: false }));
  const result = await relinked.repair();
  expect(result).toMatchObject({ fetched: 0, commitsDropped: 1 });
  expect(await again.get(keyOf(7))).toEqual(rowOf(7)[1]);
  await again.close();
  await link.close();
});
