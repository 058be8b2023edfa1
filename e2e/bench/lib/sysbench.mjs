// Summarizes the sysbench cases: the time of each side, and the geometric mean of the ratios.

import { geometricMean } from './figures.mjs';

/** The compared pairs: both promise the same of a commit. A run with a mean below `least` fails. */
const PAIRS = [
  {
    name: 'neither waits for the disk',
    ours: 'hedgerow',
    peer: 'sqlite-wasm OPFS, WAL',
    least: 0.4,
  },
  {
    name: 'both wait for the disk',
    ours: 'hedgerow, strict',
    peer: 'sqlite-wasm OPFS',
    least: 0.95,
  },
];

/** Computes the time of SQLite over the time of Hedgerow: above 1, Hedgerow is faster. */
export function sysbenchOf(cases) {
  const own = cases.filter(({ name, ours }) => name.startsWith('sysbench-') && ours.samples);
  if (own.length === 0) return null;
  const pairs = PAIRS.flatMap(({ name, ours, peer, least }) => {
    const ratios = own.flatMap((result) => {
      const all = [result.ours, ...result.variants, ...result.peers];
      const one = all.find((row) => row.name === ours)?.samples;
      const other = all.find((row) => row.name === peer)?.samples;
      if (one === undefined || other === undefined) return [];
      const values = other.map((value, round) => value / one[round]).sort((a, b) => a - b);
      const [min, max] = [values[0], values.at(-1)];
      const middle = geometricMean([values[(values.length - 1) >> 1], values[values.length >> 1]]);
      return [{ case: result.name.slice('sysbench-'.length), median: middle, min, max }];
    });
    if (ratios.length === 0) return [];
    const mean = geometricMean(ratios.map((r) => r.median));
    return [{ name, ours, peer, ratios, least, geometricMean: mean }];
  });
  return { rows: own[0].ours.details.rows.median, pairs };
}
