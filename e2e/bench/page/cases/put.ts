import type { BenchCase, Contestant, Sample, Setting } from '../bench-case.js';
import { percentile, timed } from '../measure.js';
import { withDexie } from '../peers/dexie.js';
import { load, withStore } from '../peers/hedgerow.js';
import { inTransaction, withRaw } from '../peers/raw.js';
import { random } from '../random.js';
import { makeRows, type Row } from '../rows.js';

const UNCOUNTED = 20;

function putsOf({ quick }: Setting): number {
  return quick ? 60 : 300;
}

/** Changed rows, at random. */
function changedRows(rows: readonly Row[], count: number): Row[] {
  const next = random(5);
  return Array.from({ length: count }, (_, at) => {
    const row = rows[Math.floor(next() * rows.length)] as Row;
    return { ...row, modified: row.modified + at };
  });
}

/** Puts, each awaited before the next. */
async function inSequence(
  setting: Setting,
  rows: readonly Row[],
  put: (row: Row) => PromiseLike<unknown>,
): Promise<Sample> {
  const count = putsOf(setting);
  const changed = changedRows(rows, UNCOUNTED + count);
  for (const row of changed.slice(0, UNCOUNTED)) await put(row);
  const times: number[] = [];
  await timed(async () => {
    for (const row of changed.slice(UNCOUNTED)) {
      const startMs = performance.now();
      await put(row);
      times.push(performance.now() - startMs);
    }
  });
  return { value: percentile(times, 0.5), details: { 'p95, ms': percentile(times, 0.95) } };
}

const HEDGEROW: Contestant = {
  name: 'hedgerow',
  kind: 'ours',
  sample: (setting) => {
    const rows = makeRows(setting.rows);
    return withStore(async (db) => {
      await load(db, rows);
      const before = await db.stats();
      const { value, details } = await inSequence(setting, rows, (row) => db.put(row.id, row));
      const after = await db.stats();
      const puts = putsOf(setting) + UNCOUNTED;
      return {
        value,
        details: {
          ...details,
          'written per put, bytes': (after.storedBytes - before.storedBytes) / puts,
          'chunks per put': (after.chunks - before.chunks) / puts,
          'tree levels': after.levels.length,
        },
      };
    });
  },
};

const RAW: Contestant = {
  name: 'IndexedDB, one put',
  kind: 'floor',
  sample: (setting) => {
    const rows = makeRows(setting.rows);
    return withRaw((db) =>
      inSequence(setting, rows, (row) => inTransaction(db, 'rows', (store) => store.put(row))),
    );
  },
};

const DEXIE: Contestant = {
  name: 'Dexie put',
  kind: 'peer',
  sample: (setting) => {
    const rows = makeRows(setting.rows);
    return withDexie((db) => inSequence(setting, rows, (row) => db.rows.put(row)));
  },
};

export const PUT: BenchCase = {
  name: 'put',
  title: 'one put of a changed row (p50); ours in the full store, the others in an empty one',
  unit: 'ms',
  stored: false,
  contestants: [HEDGEROW, RAW, DEXIE],
};
