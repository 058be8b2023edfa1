/** Reads the values of many keys, in slices. */

import { checkKey } from '../base/key.js';
import { Pace, turn } from '../base/scheduler.js';
import * as reads from '../core/calls/reads.js';
import type { Engine } from '../core/engine.js';
import type { Host } from '../core/host.js';
import { ROWS_IN_MS } from '../core/speed.js';

/** Keys of the first part: a small share of a slice. What is not in memory of a part is read at once. */
const KEYS_AT_ONCE = 64 * ROWS_IN_MS;

/** Most keys in one part: absent keys are fast, so that the pace alone would not limit it. */
const MOST_KEYS = 8192;

/** The values that a search has found, in the order of its keys. */
export function foundOf(engine: Engine, count: number): unknown[] {
  const values = new Array<unknown>(count).fill(undefined);
  const members = reads.output(engine);
  for (const [index, position] of reads.positions(engine).entries())
    values[position] = members[index];
  return values;
}

/** Takes keys from an iterable part by part, and checks them. */
export class KeyParts {
  part: string[] = [];
  /** Whether `part` is the last one. */
  isLast = false;
  #most = KEYS_AT_ONCE;
  readonly #parts: Generator<string[], void, void>;

  /** Takes the first part. */
  constructor(keys: Iterable<string>) {
    // Copy: the caller may change the array meanwhile.
    this.#parts = this.#take(Array.isArray(keys) ? keys.slice() : keys);
    this.advance(KEYS_AT_ONCE);
  }

  *#take(keys: Iterable<string>): Generator<string[], void, void> {
    let row = 0;
    let part: string[] = [];
    for (const key of keys) {
      // Yield a full part only once another key follows: it may be the last.
      if (part.length >= this.#most) {
        yield part;
        part = [];
      }
      checkKey(key, row++);
      part.push(key);
    }
    this.isLast = true;
    yield part;
  }

  /** Takes the next part, of at most `most` keys. */
  advance(most: number): void {
    this.#most = most;
    this.part = this.#parts.next().value ?? [];
  }

  /** Ends the iterable early. */
  end(): void {
    this.#parts.return();
  }
}

/**
 * Reads the values of many keys from a view that the caller holds. `check` throws to stop it between
 * slices. Keys for which `own` returns a value are not searched.
 */
export async function findMany(
  host: Host,
  view: number,
  parts: KeyParts,
  check: () => void,
  own?: (key: string) => { readonly value: unknown } | undefined,
): Promise<unknown[]> {
  const { engine } = host;
  const values: unknown[] = [];
  // Half of a slice: the last step of the search shares the slice.
  const pace = new Pace(host.sliceMs / 2, ROWS_IN_MS);
  try {
    for (let beginMs = performance.now(); ; ) {
      const { part } = parts;
      const known = own && part.map(own);
      const wanted = known ? part.filter((_, at) => known[at] === undefined) : part;
      const op = reads.find(engine, view, wanted);
      const passingMs = performance.now() - beginMs;
      let startMs = 0;
      const found = await host.read(op, () => {
        startMs = performance.now();
        return foundOf(engine, wanted.length);
      });
      let at = 0;
      for (const index of part.keys()) {
        const one = known?.[index];
        values.push(one === undefined ? found[at++] : one.value);
      }
      if (parts.isLast) return values;
      pace.learn(part.length, passingMs + performance.now() - startMs);
      await turn();
      check();
      beginMs = performance.now();
      parts.advance(Math.min(pace.units, MOST_KEYS));
    }
  } finally {
    parts.end();
  }
}
