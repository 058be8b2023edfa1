import type { BenchCase, Contestant, Sample } from '../bench-case.js';
import { timed, watched } from '../measure.js';
import { withDexie } from '../peers/dexie.js';
import { load, withStore } from '../peers/hedgerow.js';
import { inTransaction, putRows, withRaw } from '../peers/raw.js';
import { makeRows, type Row, shuffled } from '../rows.js';

const BLOCK_BYTES = 1 << 20;

type Order = (rows: Row[]) => readonly Row[];

/** The least that storing rows as bytes can cost: see `README.md`. */
function floor(order: Order): Contestant {
  return {
    name: 'floor',
    kind: 'floor',
    sample: ({ rows: count }) => {
      const rows = order(makeRows(count));
      return withRaw(async (db): Promise<Sample> => {
        const { ms, result } = await timed(async () => {
          const startMs = performance.now();
          const text = JSON.stringify(rows);
          const stringifiedMs = performance.now();
          const bytes = new TextEncoder().encode(text);
          const encodedMs = performance.now();
          await inTransaction(db, 'blocks', (store) => {
            for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
              store.put(bytes.slice(at, at + BLOCK_BYTES), at / BLOCK_BYTES);
            }
          });
          return {
            'stringify, ms': stringifiedMs - startMs,
            'encode, ms': encodedMs - stringifiedMs,
            'puts, ms': performance.now() - encodedMs,
          };
        });
        return { value: ms, details: result };
      });
    },
  };
}

function hedgerow(order: Order): Contestant {
  return {
    name: 'hedgerow',
    kind: 'ours',
    sample: ({ rows: count }) => {
      const rows = order(makeRows(count));
      return withStore(async (db): Promise<Sample> => {
        const { ms, result } = await timed(() => load(db, rows));
        const { storedBytes, memoryBytes } = await db.stats();
        return {
          value: ms,
          details: {
            slices: result.slices,
            'longest slice, ms': result.longestSliceMs,
            'waiting for storage, ms': result.storageMs,
            segments: result.segments,
            'stored, MiB': storedBytes / 2 ** 20,
            'linear memory, MiB': memoryBytes / 2 ** 20,
          },
        };
      });
    },
  };
}

/** In samples of its own: frames are work too. */
function hedgerowWatched(order: Order): Contestant {
  return {
    name: 'hedgerow, frames watched',
    kind: 'variant',
    sample: ({ rows: count }) => {
      const rows = order(makeRows(count));
      return withStore(async (db): Promise<Sample> => {
        const { result: watch } = await timed(() =>
          watched(async () => {
            const startMs = performance.now();
            const result = await load(db, rows);
            return { ms: performance.now() - startMs, result };
          }),
        );
        return {
          value: watch.result.ms,
          details: {
            'longest frame gap, ms': watch.frameGapMs,
            'longest task of 50 ms or more, ms': watch.longTaskMs,
            'longest slice, ms': watch.result.result.longestSliceMs,
          },
        };
      });
    },
  };
}

const RAW: Contestant = {
  name: 'IndexedDB put per row',
  kind: 'peer',
  sample: ({ rows: count }) => {
    const rows = makeRows(count);
    return withRaw(async (db) => ({ value: (await timed(() => putRows(db, rows))).ms }));
  },
};

function dexie(order: Order): Contestant {
  return {
    name: 'Dexie bulkPut',
    kind: 'peer',
    sample: ({ rows: count }) => {
      const rows = order(makeRows(count));
      return withDexie(async (db) => ({ value: (await timed(() => db.rows.bulkPut(rows))).ms }));
    },
  };
}

const inOrder: Order = (rows) => rows;

export const LOAD: BenchCase = {
  name: 'load',
  title: 'putMany of all rows, by ascending key, into an empty store',
  unit: 'ms',
  stored: false,
  contestants: [hedgerow(inOrder), floor(inOrder), hedgerowWatched(inOrder), RAW, dexie(inOrder)],
};

export const LOAD_SHUFFLED: BenchCase = {
  name: 'load-shuffled',
  title: 'putMany of all rows, shuffled, into an empty store',
  unit: 'ms',
  stored: false,
  contestants: [hedgerow(shuffled), floor(shuffled), hedgerowWatched(shuffled), dexie(shuffled)],
};
