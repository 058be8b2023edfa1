/**
 * Lazy clones that pull, push and merge: their rows equal a whole clone's, and they fetch only the leaves that they
 * touch.
 */
import { expect, it } from 'vitest';
import { clone, memory } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { PLAIN_SCOPE } from '../../../src/sync/remote/format/cipher-suite.js';
import { objectPath } from '../../../src/sync/remote/format/content-names.js';
import { decodeHead } from '../../../src/sync/remote/format/head-codec.js';
import { packsOf } from '../../../src/sync/remote/format/head-record.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { keyOf, lazy, published, rowOf, rowsOf } from '../../support/worlds/lazy-devices.js';

const ROWS = isDeep ? 40_000 : 30_000;

const headOf = async (remote: Remote) =>
  decodeHead((await remote.readHead('main'))?.bytes as Uint8Array, PLAIN_SCOPE);

it('pulls and pushes fetch the leaves that they touch', async () => {
  const { remote, from, link: source } = await published(ROWS);
  const { db, link } = await lazy(remote, memory());
  const other = await lazy(remote, memory());
  await from.putMany([10, ROWS / 2, ROWS - 1000].map((nth) => rowOf(nth, 'shut')));
  await from.delete(keyOf(77));
  await source.push();
  await db.putMany([11, 0.75 * ROWS].map((nth) => rowOf(nth, 'mine')));
  await db.put('zzz', 'the last one');
  await link.push();
  await source.pull();
  await other.link.pull();
  expect(db.root).toBe(from.root);
  expect(other.db.root).toBe(from.root);
  expect(await db.get(keyOf(ROWS / 2))).toEqual(rowOf(ROWS / 2, 'shut')[1]);
  expect(await db.get(keyOf(77))).toBeUndefined();
  expect(await other.db.get('zzz')).toBe('the last one');
  // A part of a whole clone's bytes.
  const bytes = (await remote.list('p/')).reduce((sum, { length }) => sum + length, 0);
  for (const one of [link, other.link]) expect(one.traffic.receivedBytes).toBeLessThan(bytes / 4);
  expect((await db.health.verify()).remoteRows).toBeGreaterThan(ROWS / 2);
  expect(await rowsOf(db)).toEqual(await rowsOf(from));
});

it('a push writes a checkpoint without reading all rows, also when all are due to be written again', async () => {
  const { remote, from, link: source } = await published(ROWS);
  const chance = random(7);
  for (let round = 0; round < 3; round++) {
    const rows = Array.from({ length: 60_000 }, () => rowOf(chance.below(ROWS), `round ${round}`));
    await from.putMany(rows);
    await source.push();
  }
  const layers = async () => (await headOf(remote)).checkpoint.layers.length;
  const before = await layers();
  // A tail of so many rows would apply to all leaves.
  expect((await headOf(remote)).tail).toEqual([]);
  const { db, link } = await lazy(remote, memory());
  for (let nth = 0; nth < 80; nth++) {
    await db.put(keyOf(nth), nth);
    await link.push();
  }
  expect(await layers()).toBe(before + 1);
  const bytes = (await remote.list('p/')).reduce((sum, { length }) => sum + length, 0);
  expect(link.traffic.receivedBytes).toBeLessThan(bytes / 4);
  await source.pull();
  expect(from.root).toBe(db.root);
});

it('a clone follows added checkpoints, and a checkpoint of all rows', async () => {
  const { remote, from, link: source } = await published(ROWS);
  const { db, link } = await lazy(remote, memory());
  const late = await lazy(remote, memory());
  await late.db.put(`${keyOf(5)} late`, 'late');
  const chance = random(3);
  for (let round = 0; round < 6; round++) {
    // Too many for a tail: each is a layer, or all rows again.
    const rows = Array.from({ length: 0.6 * ROWS }, () =>
      rowOf(chance.below(ROWS), `round ${round}`),
    );
    await from.putMany(rows);
    await source.push();
    if (round % 2 === 0) await link.pull();
    expect(await db.get(keyOf(round * 1000))).toBeDefined();
  }
  await link.pull();
  expect(db.root).toBe(from.root);
  expect(await rowsOf(db)).toEqual(await rowsOf(from));
  // The collection deletes objects that no head needs. The late device has never read the old state of most rows.
  const head = await headOf(remote);
  const live = new Set(packsOf(head.checkpoint).map(({ nameBytes }) => objectPath('p', nameBytes)));
  const dead = (await remote.list('p/')).map(({ name }) => name).filter((name) => !live.has(name));
  expect(dead.length).toBeGreaterThan(3);
  await remote.remove(dead);
  await late.link.push();
  await source.pull();
  expect(await from.get(`${keyOf(5)} late`)).toBe('late');
  expect(late.db.root).toBe(from.root);
  expect(await rowsOf(late.db)).toEqual(await rowsOf(from));
  const whole = await clone('whole', bucket(remote, { probe: false }), { storage: memory() });
  expect(whole.db.root).toBe(from.root);
});
