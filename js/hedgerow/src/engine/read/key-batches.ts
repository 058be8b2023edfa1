/** The keys of a read of many, and the values that it finds. `find-many.ts` reads the parts after the first. */

import { checkKey } from '../../base/key.js';
import { ROWS_IN_MS } from '../../core/assumed-speed.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Engine } from '../../core/engine.js';

/** Keys of the first part: a small share of a slice. A search requests all missing chunks of a part at once. */
const KEYS_AT_ONCE = 64 * ROWS_IN_MS;

/** Returns the values that a search has found, in the order of its keys. */
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
    // Copy: the caller may change the array during the read.
    this.#parts = this.#take(Array.isArray(keys) ? keys.slice() : keys);
    this.advance(KEYS_AT_ONCE);
  }

  *#take(keys: Iterable<string>): Generator<string[], void, void> {
    let row = 0;
    let part: string[] = [];
    for (const key of keys) {
      // Yield a full part only once another key follows: it may be the last part.
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
