import type { BenchCase } from '../bench-case.js';
import { timed } from '../measure.js';
import { load, withStore } from '../peers/hedgerow.js';
import { makeRows, tenthChanged } from '../rows.js';

export const UPDATE: BenchCase = {
  name: 'update',
  title: 'putMany of every tenth row, changed, into the full store',
  unit: 'ms',
  stored: false,
  contestants: [
    {
      name: 'hedgerow',
      kind: 'ours',
      sample: ({ rows: count }) => {
        const rows = makeRows(count);
        const changed = tenthChanged(rows);
        return withStore(async (db) => {
          const loading = await timed(() => load(db, rows));
          const before = (await db.stats()).storedBytes;
          const { ms, result } = await timed(() => load(db, changed));
          const after = (await db.stats()).storedBytes;
          return {
            value: ms,
            details: {
              'load in the same page, ms': loading.ms,
              'share of the load': ms / loading.ms,
              slices: result.slices,
              'longest slice, ms': result.longestSliceMs,
              'waiting for storage, ms': result.storageMs,
              'written, MiB': (after - before) / 2 ** 20,
            },
          };
        });
      },
    },
  ],
};
