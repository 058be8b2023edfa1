/** Takes samples in ways that several cases share. */
import type { Sample, Setting } from '../bench-case.js';
import { percentile, timed } from '../measure.js';
import { type Row, randomlyChanged } from '../rows.js';

const UNCOUNTED_PUTS = 20;
const LEAST_PUTS = 60;
/** After enough puts, no more begin after this time. */
const PUTS_MS = 1500;
const WARM_PASSES = 3;

/**
 * Changes random rows, each put awaited before the next: p50 and p95. Every use on one database has its own seed: a put
 * that changes no value is no work to some peers.
 */
export async function putLatency(
  { quick }: Setting,
  rows: readonly Row[],
  seed: number,
  put: (row: Row) => PromiseLike<unknown>,
): Promise<Sample> {
  const count = quick ? LEAST_PUTS : 5 * LEAST_PUTS;
  const changed = randomlyChanged(rows, UNCOUNTED_PUTS + count, seed);
  for (const row of changed.slice(0, UNCOUNTED_PUTS)) await put(row);
  const times: number[] = [];
  await timed(async () => {
    const endMs = performance.now() + PUTS_MS;
    for (const row of changed.slice(UNCOUNTED_PUTS)) {
      const startMs = performance.now();
      if (times.length >= LEAST_PUTS && startMs > endMs) break;
      await put(row);
      times.push(performance.now() - startMs);
    }
  });
  return { value: percentile(times, 0.5), details: { 'p95, ms': percentile(times, 0.95) } };
}

/** Times the first scan, and the median of the later ones. */
export async function scanPasses(
  expected: number,
  pass: () => PromiseLike<readonly unknown[]>,
): Promise<Sample> {
  const times: number[] = [];
  for (let count = 0; count <= WARM_PASSES; count++) {
    const { ms, result } = await timed(async () => (await pass()).length);
    if (result !== expected) throw new Error(`${result} rows of ${expected}`);
    times.push(ms);
  }
  const [first = 0, ...warm] = times;
  return { value: percentile(warm, 0.5), details: { 'first after open, ms': first } };
}

/** Calls `one` with one argument after the other, each awaited, until all are used or time is up. */
export async function perSecond<Argument>(
  args: readonly Argument[],
  mostMs: number,
  one: (argument: Argument) => PromiseLike<unknown>,
): Promise<number> {
  const { ms, result } = await timed(async () => {
    const endMs = performance.now() + mostMs;
    let done = 0;
    for (const argument of args) {
      if ((await one(argument)) === undefined) throw new Error(`${argument} is not there`);
      done += 1;
      if (done % 100 === 0 && performance.now() > endMs) break;
    }
    return done;
  });
  return (1000 * result) / ms;
}
