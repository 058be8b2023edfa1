/** A pull to a store without changes: one transaction; its branches, indexes and watchers are as after any pull. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { memory } from '../../../src/index.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { random } from '../../support/random.js';
import { device, rowsOf } from '../../support/worlds/sync-devices.js';

const indexes = { byPoints: { path: ['/points'] } };

/** Two devices with the same rows; the test watches the storage of the second. */
async function pair() {
  const remote = memoryRemote();
  const storage = watched(memory());
  const onGet: (() => Promise<void>)[] = [];
  const get: Remote['get'] = async (...call) => {
    await onGet.shift()?.();
    return remote.get(...call);
  };
  const a = await device(remote);
  const b = await device({ ...remote, get }, {}, { storage, indexes });
  await a.db.putMany([
    ['one', { points: 1 }],
    ['two', { points: 2 }],
  ]);
  await a.link.push();
  await b.link.pull();
  // The index is complete by then.
  await b.db.scan({ index: 'byPoints' }).toArray();
  return { a, b, storage, onGet };
}

it('a pull writes once for all branches', async () => {
  const { a, b, storage } = await pair();
  const followed = await b.db.branches.open(b.link.originName);
  for (const points of [3, 4]) {
    await a.db.put('two', { points });
    await a.link.push();
    const seen: unknown[] = [];
    const roots: boolean[] = [];
    const stop = b.db.watch({}, (changes) => {
      seen.push(...changes);
      roots.push(followed.root === b.db.root);
    });
    const before = storage.written.length;
    expect(await b.link.pull()).toMatchObject({ rows: 1, conflicts: 0 });
    expect(storage.written).toHaveLength(before + 1);
    expect(await rowsOf(b.db)).toEqual({ one: { points: 1 }, two: { points } });
    expect(
      await b.db
        .scan({ index: 'byPoints', gte: [2] })
        .keys()
        .toArray(),
    ).toHaveLength(1);
    await expect.poll(() => seen).toHaveLength(1);
    expect(roots).toEqual([true]);
    stop();
    const origin = await b.db.branches.open(b.link.originName);
    expect(await rowsOf(origin as never)).toEqual(await rowsOf(b.db));
    expect(await followed.get('two')).toEqual({ points });
    expect(await b.link.isPending()).toBe(false);
  }
  expect((await b.db.health.verify()).faults).toEqual([]);
});

it('a pull goes on when a row changes here while the head arrives', async () => {
  const { a, b, onGet } = await pair();
  // Too long for a head: it is an object, which the device fetches last.
  const long = hex(random(1).bytes(10_000));
  await a.db.put('two', { points: 3, long });
  await a.link.push();
  onGet.push(() => b.db.put('mine', { points: 9 }));
  expect(await b.link.pull()).toMatchObject({ rows: 1, conflicts: 0 });
  expect(onGet).toEqual([]);
  const expected = { mine: { points: 9 }, one: { points: 1 }, two: { points: 3, long } };
  expect(await rowsOf(b.db)).toEqual(expected);
  expect(await b.link.isPending()).toBe(true);
  await b.link.push();
  await a.link.pull();
  expect(await rowsOf(a.db)).toEqual(expected);
});

it('a pull takes a head that changes no row', async () => {
  const { a, b, storage } = await pair();
  await a.db.put('two', { points: 3 });
  await a.link.push();
  // The same row, written here as it was there.
  await b.db.put('two', { points: 3 });
  await b.link.pull();
  const { length } = storage.written;
  expect(await b.link.pull()).toMatchObject({ rows: 0, conflicts: 0 });
  expect(storage.written).toHaveLength(length);
  expect(await b.link.isPending()).toBe(false);
});

it('a tab that hears no commits of others finds the pull', async () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const remote = memoryRemote();
  const storage = memory();
  const a = await device(remote);
  const [b, other] = [await device(remote, {}, { storage }), await device(remote, {}, { storage })];
  await a.db.put('one', 1);
  await a.link.push();
  for (const { link } of [b, other]) await link.pull();
  for (const nth of [2, 3, 4, 5]) {
    await a.db.put('one', nth);
    await a.link.push();
    const { db, link } = nth % 2 === 0 ? b : other;
    // Then it merges, as before.
    if (nth > 3) await db.put('mine', nth);
    expect(await link.pull()).toMatchObject({ rows: 1 });
    expect(await db.get('one')).toBe(nth);
  }
});
