/** The bytes of dead chunks that a store keeps, counted at each write: while writers never rest, and after. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { noise } from '../../support/noise.js';
import { sampled } from '../../support/property.js';
import { random as seeded } from '../../support/random.js';

const ROWS = 20_000;
const MIB = 1 << 20;
/** The bytes that a store may have above 2.5 times its live bytes. */
const CONSTANT_BYTES = 6 * MIB;
/** The engine of the browser that runs this test, if a browser does. */
const { ENGINE } = process.env;

/** Returns the text of a row: about 190 characters, with other bytes in each round. */
function textOf(round: number, at: number): string {
  return noise(round * ROWS + at, 25 * `${round} ${at} `.length);
}

function* rows(round: number): Generator<[string, unknown]> {
  for (let at = 0; at < ROWS; at++) yield [`row/${100_000 + at}`, textOf(round, at)];
}

function bytesOf({ stored }: WatchedStorage): number {
  let bytes = 0;
  for (const { segmentBytes } of stored.values()) bytes += segmentBytes.length;
  return bytes;
}

/**
 * Notes the most bytes that are stored after any write. Before a write is too early: the engine may still serve an
 * earlier deletion.
 */
function measured(): { storage: WatchedStorage; most(): number } {
  let most = 0;
  const storage = watched(memory());
  storage.hooks.written = () => {
    most = Math.max(most, bytesOf(storage));
  };
  return { storage, most: () => most };
}

const WORKLOADS: Record<string, (db: Store, times: number) => Promise<unknown>> = {
  async 'rewrite everything'(db, times) {
    for (let round = 1; round <= times; round++) await db.putMany(rows(round));
  },
  async 'put single rows in batches'(db, times) {
    const random = seeded(14);
    for (let round = 1; round <= 60 * times; round++) {
      const changed = Array.from({ length: 50 }, (_, at) => {
        const row = random.below(ROWS);
        return db.put(`row/${100_000 + row}`, textOf(round, at));
      });
      await Promise.all(changed);
    }
  },
  async 'load beside single puts'(db, times) {
    for (let round = 1; round <= times; round++) {
      let isOver = false;
      const loading = db.putMany(rows(round)).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await db.put('row/single', noise(round, 300));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await loading;
    }
  },
};

/** A normal browser, a browser that calls back only when it must, and a browser that deletes slowly. */
const BROWSERS: Record<string, (storage: WatchedStorage) => void> = {
  '': () => {},
  ', in a browser that is never idle': () => {
    vi.stubGlobal('requestIdleCallback', (call: () => void, { timeout = 0 } = {}) =>
      setTimeout(call, timeout),
    );
  },
};
const SLOW = ', where a deletion takes its time';
if (!ENGINE) {
  BROWSERS[SLOW] = ({ hooks }) => {
    hooks.delete = () => new Promise((resolve) => setTimeout(resolve, 50));
  };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

const CASES = Object.entries(BROWSERS).flatMap(([where, become]) =>
  Object.entries(WORKLOADS).map(([what, work]) => ({
    what: what + where,
    become,
    work,
    // Writes during a deletion add a load at most, in a browser and where deletions are slow.
    loads: ENGINE || where === SLOW ? 1 : 0,
  })),
);

describe('while writers never rest', () => {
  for (const { what, become, work, loads } of sampled(CASES)) {
    it(`a store keeps at most 2.5 times its live bytes, and a constant, when they ${what}`, async () => {
      const { storage, most } = measured();
      become(storage);
      const db = await open('test', { storage });
      await db.putMany(rows(0));
      await work(db, 12);
      const { liveBytes } = await db.health.stats();
      const written = storage.written.flatMap(({ segments }) => segments);
      const bytes = written.reduce((sum, { segmentBytes }) => sum + segmentBytes.length, 0);
      console.log(
        `  ${what}: ${(bytes / liveBytes).toFixed(1)} x live written, at most ` +
          `${(most() / liveBytes).toFixed(2)} x stored (${(most() / MIB).toFixed(1)} MiB of ${(liveBytes / MIB).toFixed(1)})`,
      );
      expect(most()).toBeLessThan((2.5 + loads) * liveBytes + CONSTANT_BYTES);
      // The test proves its point only if more bytes were written.
      expect(bytes).toBeGreaterThan(2 * (2.5 * liveBytes + CONSTANT_BYTES));
      const restsMs = performance.now();
      const isSmall = () => bytesOf(storage) <= 1.2 * liveBytes;
      while (!isSmall() && performance.now() < restsMs + 20_000) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      console.log(
        `  ${(bytesOf(storage) / liveBytes).toFixed(2)} x ${Math.round(performance.now() - restsMs)} ms later`,
      );
      expect(bytesOf(storage)).toBeLessThanOrEqual(1.2 * liveBytes);
      await db.close();
    });
  }
});
