import type { BenchCase, Contestant } from '../bench-case.js';
import { timed } from '../measure.js';
import { load, withStore } from '../peers/hedgerow.js';
import { makeRows } from '../rows.js';

function sliced(name: string, kind: 'ours' | 'floor', sliceMs: number): Contestant {
  return {
    name,
    kind,
    sample: ({ rows: count }) => {
      const rows = makeRows(count);
      return withStore(
        async (db) => {
          const { ms, result } = await timed(() => load(db, rows));
          return {
            value: ms,
            details: { slices: result.slices, 'longest slice, ms': result.longestSliceMs },
          };
        },
        { sliceMs },
      );
    },
  };
}

export const SLICING: BenchCase = {
  name: 'slicing',
  title: 'the same load in slices and in one go',
  unit: 'ms',
  stored: false,
  contestants: [sliced('hedgerow', 'ours', 8), sliced('hedgerow, sliceMs: 1e9', 'floor', 1e9)],
};
