/** A lazy clone makes and stores each fetched leaf once, though the frames of successive reads overlap. */
import { expect, it } from 'vitest';
import { memory } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { chunksOf } from '../../support/stored-chunks.js';
import { keyOf, lazy, published } from '../../support/worlds/lazy-devices.js';

it.each([
  ['prefetched', 2000],
  ['scanned in parts', 500],
])('no leaf that is %s is stored twice', async (_, count) => {
  const { remote } = await published(40_000);
  const storage = watched(memory());
  const { db, link } = await lazy(remote, storage);
  for (let from = 1000; from < 9000; from += count) {
    const range = { gte: keyOf(from), lt: keyOf(from + count) };
    if (count > 1000) await link.prefetch(range);
    else await db.scan(range).toArray();
  }
  const hashes = [...storage.stored.values()].flatMap((segment) =>
    chunksOf(segment)
      .filter(({ end }) => end <= segment.segmentBytes.length)
      .map(({ hash }) => hash),
  );
  expect(hashes.length).toBeGreaterThan(200);
  // A leaf that spans two frames may be requested with both, and may arrive with both.
  expect(hashes.length - new Set(hashes).size).toBeLessThan(hashes.length / 50);
  await db.close();
});
