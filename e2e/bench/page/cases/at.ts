/**
 * Rows by their number, and the number of a key, for lists whose scroll bar reaches everywhere. Run it with `--rows
 * 1000000`.
 */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { type Database, type Peer, RELAXED, within } from '../peers/database.js';
import { random } from '../random.js';
import { idOf, type Row } from '../rows.js';
import { withManyRows } from './contestants.js';

const CALLS = 20_000;
const CALLS_MS = 2000;
/** Rows in the middle, few enough for any cache. */
const WARM_ROWS = 100_000;

/** Measures the calls a second with random numbers, each awaited before the next; each is checked. */
async function rate(
  numbers: () => number,
  mostMs: number,
  call: (n: number) => PromiseLike<boolean>,
): Promise<number> {
  const { ms, result } = await timed(async () => {
    const endMs = performance.now() + mostMs;
    let done = 0;
    while (done < CALLS) {
      const n = numbers();
      if (!(await call(n))) throw new Error(`a wrong answer for number ${n}`);
      done += 1;
      // A single call takes some peers longer than the whole time limit.
      if (performance.now() > endMs) break;
    }
    return done;
  });
  return (1000 * result) / ms;
}

async function numbers(peer: Peer, { rows, quick }: Setting): Promise<Samples> {
  return within(peer, RELAXED, async (db) => {
    const { at, rank } = db as Required<Pick<Database, 'at' | 'rank'>>;
    const next = random(71);
    const count = Math.min(WARM_ROWS, rows);
    const first = Math.floor((rows - count) / 2);
    const near = () => first + Math.floor(next() * count);
    const isRow = async (n: number) => ((await at(n)) as Row | undefined)?.id === idOf(n);
    const isRank = async (n: number) => (await rank(idOf(n))) === n;
    await db.scan({ from: idOf(first), limit: count });
    const mostMs = quick ? 200 : CALLS_MS;
    for (const warm of [isRow, isRank]) await rate(near, mostMs / 4, warm);
    return {
      at: { value: await rate(near, mostMs, isRow) },
      rank: { value: await rate(near, mostMs, isRank) },
      'at-anywhere': { value: await rate(() => Math.floor(next() * rows), mostMs, isRow) },
    };
  });
}

export const AT: Suite = {
  name: 'at',
  cases: [
    {
      name: 'at',
      title: `the row with a random number, among ${WARM_ROWS.toLocaleString('en')} in the middle that were read before`,
      unit: 'per second',
    },
    { name: 'rank', title: 'the number of a random key among the same', unit: 'per second' },
    { name: 'at-anywhere', title: 'the row with a random number, of all', unit: 'per second' },
  ],
  contestants: withManyRows([numbers]),
};
