/** A lazy clone with full storage: it uses the fetched bytes though it cannot store them. */
import { expect, it } from 'vitest';
import { memory } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { chunksOf } from '../../support/stored-chunks.js';
import { keyOf, lazy, published, rowOf } from '../../support/worlds/lazy-devices.js';

it('a full store reads packed leaves without storing them, and stores them once there is room', async () => {
  const { remote } = await published(60_000);
  const storage = watched(memory());
  const { db } = await lazy(remote, storage);
  const places = [7, 7777, 15_000, 30_000, 59_000];
  // From now on the nodes above the next leaves are here.
  for (const nth of places) await db.get(keyOf(nth));
  const isPacked = [...storage.stored.values()]
    .flatMap(chunksOf)
    .some(({ start, end, length }) => length > end - start);
  expect(isPacked).toBe(true);

  let refused = 0;
  storage.hooks.write = () => {
    refused++;
    throw new Error('there is no room');
  };
  for (const nth of places) {
    expect(await db.get(keyOf(nth + 500))).toEqual(rowOf(nth + 500)[1]);
  }
  expect(refused).toBeGreaterThanOrEqual(places.length);

  delete storage.hooks.write;
  const before = storage.written.length;
  for (const nth of places) {
    expect(await db.get(keyOf(nth + 800))).toEqual(rowOf(nth + 800)[1]);
  }
  expect(storage.written.length).toBeGreaterThan(before);
  expect((await db.health.verify()).faults).toEqual([]);
  await db.close();
});
