/** Reads the values of many keys, in slices. */
import type { Engine } from './engine.js';
import type { Host } from './host.js';
import { Pace, turn } from './scheduler.js';
import { ROWS_IN_MS } from './speed.js';

/** So many keys are a small part of a slice. */
export const KEYS_AT_ONCE = 32 * ROWS_IN_MS;

/** So many are the most at once: of absent ones any number would be found in no time. */
const MOST_KEYS = 8192;

/** What a search has found, in the order of its keys. */
export function foundOf(engine: Engine, count: number): unknown[] {
  const values = new Array<unknown>(count).fill(undefined);
  const members = engine.output();
  for (const [index, position] of engine.positions().entries()) values[position] = members[index];
  return values;
}

/** Searches a view that is held, part by part; `check` throws when it is to be given up. */
export async function findMany(
  host: Host,
  view: number,
  keys: readonly string[],
  check: () => void,
): Promise<unknown[]> {
  const { engine } = host;
  const values: unknown[] = [];
  // Half of a slice: the last step of a search is in the same one.
  const pace = new Pace(host.sliceMs / 2, ROWS_IN_MS);
  for (let next = KEYS_AT_ONCE; ; next = Math.min(pace.units, MOST_KEYS)) {
    const part = keys.slice(values.length, values.length + next);
    const beginMs = performance.now();
    const op = engine.find(view, part);
    const passingMs = performance.now() - beginMs;
    let startMs = 0;
    const found = await host.read(op, () => {
      startMs = performance.now();
      return foundOf(engine, part.length);
    });
    pace.learn(part.length, passingMs + performance.now() - startMs);
    for (const value of found) values.push(value);
    if (values.length >= keys.length) return values;
    await turn();
    check();
  }
}
