/** A store hears messages while it is being opened: its first look at storage is slow, and others commit during it. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open, type Storage, type Store } from '../../src/index.js';
import { SOON } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';
import { rest } from '../support/watching.js';

/**
 * Wraps `storage`: the answer to the first read waits for `go`, and `reading` resolves when it waits. Looks take a
 * moment.
 */
function firstReadWaits(storage: Storage) {
  let go = () => {};
  let isReading = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reading = new Promise<void>((resolve) => {
    isReading = resolve;
  });
  const slow: Storage = {
    ...storage,
    async open(...args) {
      const segments = await storage.open(...args);
      const { read, load } = segments;
      let isFirst = true;
      return Object.assign(segments, {
        async load(...given: Parameters<typeof load>) {
          await rest();
          return load.apply(segments, given);
        },
        async read(...given: Parameters<typeof read>) {
          const waits = isFirst;
          isFirst = false;
          const found = await read.apply(segments, given);
          if (!waits) return found;
          isReading();
          await gone;
          return found;
        },
      });
    },
  };
  return { slow, reading, go };
}

describe('a store whose first look at storage is slow', () => {
  const opened: Store[] = [];
  const opening = async (storage: Storage) => {
    const db = await open('opening-heard', { storage });
    opened.push(db);
    return db;
  };

  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
  });

  for (const isShared of [false, true]) {
    it(`comes to the commits that others make in between, ${isShared ? 'in other tabs' : 'in this one'}`, async () => {
      const storage = { ...memory(), isShared };
      const first = await opening(storage);
      await first.put('k', 1);
      const { slow, reading, go } = firstReadWaits(storage);
      const later = opening(slow);
      await reading;
      await first.put('k', 2);
      // It hears of that before its look is over.
      await rest(60);
      go();
      const second = await later;
      await vi.waitFor(() => expect(second.root).toBe(first.root), SOON);
      expect(await second.get('k')).toBe(2);
    });
  }

  it('does not become the collector at a commit that others have deleted in between', async () => {
    const storage = memory();
    const first = await opening(storage);
    const rows = Array.from({ length: 4000 }, (_, at) => [`k${at}`, noise(at, 390)] as const);
    await first.putMany(rows);
    const { slow, reading, go } = firstReadWaits(storage);
    const later = opening(slow);
    await reading;
    await first.clear();
    await first.health.compact();
    // The role is free now.
    await first.close();
    await rest();
    go();
    const second = await later;
    expect(await second.scan().toArray()).toEqual([]);
  });
});
