/** Unpacked chunks stay within the cache budget, whichever call reads them. */
import { expect, it } from 'vitest';
import { memory, open, type Store } from '../../src/index.js';
import { partlyNoise } from '../support/noise.js';
import { sampled } from '../support/property.js';

const CACHE_BYTES = 16 << 20;
/** The cache keeps so many bytes of unpacked chunks at any budget, and a step may add some. */
const SPARE_BYTES = 3 << 20;
const ROWS = 60_000;

async function filled(): Promise<Store> {
  const storage = memory();
  const first = await open('packed', { storage });
  await first.putMany(
    Array.from({ length: ROWS }, (_, at): [string, string] => [
      `row/${String(at).padStart(6, '0')}`,
      partlyNoise(at, 400) + 'again and '.repeat(60),
    ]),
  );
  await first.close();
  return open('packed', { storage, advanced: { cacheBytes: CACHE_BYTES } });
}

const CALLS: Record<string, (db: Store) => Promise<unknown>> = {
  scans: (db) => db.scan().values().toArray(),
  'many keys': (db) =>
    db.getMany(
      Array.from({ length: ROWS / 2 }, (_, at) => `row/${String(2 * at).padStart(6, '0')}`),
    ),
  verifications: (db) => db.health.verify(),
  proofs: (db) => db.prove({ gte: 'row/02', lt: 'row/04' }),
  exports: async (db) => new Response((await db.backup.export()).stream()).arrayBuffer(),
};

it.each(sampled(Object.keys(CALLS), 5))('%s', async (name) => {
  const db = await filled();
  const { storedBytes, levels } = await db.health.stats();
  const leafBytes = levels.at(-1)?.bytes ?? 0;
  expect(storedBytes).toBeLessThan(CACHE_BYTES + (CACHE_BYTES >> 1));
  expect(leafBytes).toBeGreaterThan(3 * CACHE_BYTES - (CACHE_BYTES >> 1));
  for (let round = 0; round < 2; round++) await CALLS[name]?.(db);
  const { cachedBytes } = await db.health.stats();
  expect(cachedBytes).toBeLessThan(CACHE_BYTES + SPARE_BYTES);
  await db.close();
});

it('a change of all rows leaves few of the old chunks unpacked', async () => {
  const db = await open('changed', { storage: memory() });
  const rows = (word: string) =>
    Array.from({ length: ROWS / 3 }, (_, at): [string, string] => [
      `row/${String(at).padStart(6, '0')}`,
      partlyNoise(at, 400) + word.repeat(60),
    ]);
  await db.putMany(rows('again and '));
  await db.putMany(rows('once more '));
  const { storedBytes, cachedBytes, levels } = await db.health.stats();
  const leafBytes = levels.at(-1)?.bytes ?? 0;
  expect(leafBytes).toBeGreaterThan(16 << 20);
  // Both versions are in memory in packed form, and `stats` unpacked the new one.
  expect(cachedBytes).toBeGreaterThan(storedBytes / 2);
  expect(cachedBytes).toBeLessThan(storedBytes + leafBytes + SPARE_BYTES);
  await db.close();
});
