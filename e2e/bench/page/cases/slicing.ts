import type { Contestant, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { makeRows } from '../rows.js';

function sliced(name: string, kind: 'ours' | 'floor', sliceMs: number): Contestant {
  return {
    name,
    kind,
    acts: [
      async ({ rows: count }) => {
        const { openHedgerow } = await import('../peers/hedgerow.js');
        const rows = makeRows(count);
        const db = await openHedgerow({ advanced: { sliceMs } });
        const { ms, result } = await timed(() => db.load(rows));
        await db.close();
        return { slicing: { value: ms, ...(result === undefined ? {} : { details: result }) } };
      },
    ],
  };
}

export const SLICING: Suite = {
  name: 'slicing',
  cases: [{ name: 'slicing', title: 'the same load in slices and in one go', unit: 'ms' }],
  contestants: [sliced('hedgerow', 'ours', 8), sliced('hedgerow, sliceMs: 1e9', 'floor', 1e9)],
};
