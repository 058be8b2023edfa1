/** A verification during endless writes. */
import { expect, it } from 'vitest';
import { memory, open, type Storage, type Store } from '../../../src/index.js';
import { collectOnDemand } from '../../support/collect-on-demand.js';
import { partlyNoise } from '../../support/noise.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('a verification finds a head, though the ref moves at every read of its history', async () => {
  const inner = memory();
  let db: Store | undefined;
  let puts = 0;
  const writing = new Set<Promise<void>>();
  const storage: Storage = {
    ...inner,
    open: async (...args) => {
      const segments = await inner.open(...args);
      const history = segments.history.bind(segments);
      const busy = async (name: string) => {
        const found = await history(name);
        const put = db?.put('busy', puts++) ?? Promise.resolve();
        writing.add(put);
        // Also after the put: if the verification blocked writers, it would never end.
        await Promise.race([put, pause(50)]);
        return found;
      };
      return Object.assign(segments, { history: busy });
    },
  };
  db = await open('busy', { storage });
  await db.putMany(Array.from({ length: 100 }, (_, at) => [`k${at}`, at] as const));
  expect(await db.health.verify()).toMatchObject({ ok: true, faults: [] });
  expect(puts).toBeGreaterThan(2);
  await Promise.all(writing);
  expect(await db.get('busy')).toBe(puts - 1);
  await db.close();
});

it('a verification reports no fault for a segment that a collection wrote in the meantime', async () => {
  // Another collection could move the segments first.
  collectOnDemand();
  const inner = memory();
  let beforeRead: (() => Promise<unknown>) | undefined;
  const storage: Storage = {
    ...inner,
    open: async (...args) => {
      const segments = await inner.open(...args);
      const read = segments.read.bind(segments);
      const late = async (ids: readonly number[]) => {
        const run = beforeRead;
        beforeRead = undefined;
        await run?.();
        return read(ids);
      };
      return Object.assign(segments, { read: late });
    },
  };
  const db = await open('moved', { storage });
  const rowOf = (at: number) => [`k${at}`, { at, text: partlyNoise(at, 240) }] as const;
  await db.putMany(Array.from({ length: 5000 }, (_, at) => rowOf(at)));
  // Each segment keeps some live chunks, and is worth moving.
  for (let at = 0; at < 5000; at += 500) await db.deleteMany({ gte: `k${at}`, lt: `k${at + 400}` });
  let moved = 0;
  beforeRead = async () => {
    moved = (await db.health.compact()).segmentsWritten;
  };
  expect(await db.health.verify()).toMatchObject({ ok: true, faults: [], segmentFaults: [] });
  expect(moved).toBeGreaterThan(0);
  await db.close();
});
