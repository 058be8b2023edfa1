/** Reads the values of many keys, in slices. */

import { checkKey } from '../base/key.js';
import { Pace, turn } from '../base/scheduler.js';
import * as reads from '../core/calls/reads.js';
import type { Engine } from '../core/engine.js';
import type { Host } from '../core/host.js';
import { ROWS_IN_MS } from '../core/speed.js';

/** So many keys are a small part of a slice. */
const KEYS_AT_ONCE = 32 * ROWS_IN_MS;

/** So many are the most at once: of absent ones any number would be found in no time. */
const MOST_KEYS = 8192;

/** What a search has found, in the order of its keys. */
export function foundOf(engine: Engine, count: number): unknown[] {
  const values = new Array<unknown>(count).fill(undefined);
  const members = reads.output(engine);
  for (const [index, position] of reads.positions(engine).entries())
    values[position] = members[index];
  return values;
}

/** Keys that are checked, and taken from where they come, part by part. */
export class KeyParts {
  part: string[] = [];
  /** There are no more. */
  isLast = false;
  #most = KEYS_AT_ONCE;
  readonly #parts: Generator<string[], void, void>;

  /** Takes the first part. */
  constructor(keys: Iterable<string>) {
    // An array may be changed meanwhile.
    this.#parts = this.#take(Array.isArray(keys) ? keys.slice() : keys);
    this.advance(KEYS_AT_ONCE);
  }

  *#take(keys: Iterable<string>): Generator<string[], void, void> {
    let row = 0;
    let part: string[] = [];
    for (const key of keys) {
      // Only now: a part that is full may have been the last.
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

  /** Takes the next part, of `most` keys at most. */
  advance(most: number): void {
    this.#most = most;
    this.part = this.#parts.next().value ?? [];
  }

  /** No more is wanted. */
  end(): void {
    this.#parts.return();
  }
}

/**
 * Searches a view that is held; `check` throws when it is to be given up. What `own` knows of a
 * key is not searched for.
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
  // Half of a slice: the last step of a search is in the same one.
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
