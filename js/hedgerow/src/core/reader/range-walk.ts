/** Writes the rows of a range to an output, in slices: `crate/trees/src/tree/scan.rs`. */
import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Status from '../../base/abi/status.js';
import type { Budget } from './budget.js';
import type { ChunkCache, Tree } from './chunk-cache.js';
import { Cursor, type LeafRun } from './cursor.js';
import { Need, type Want } from './fault.js';
import { KeyBounds } from './key-range.js';
import { memberKey } from './node.js';
import type { Operation } from './operation.js';
import type { Output } from './output.js';
import { ValueWriter } from './value-reader.js';

/** The most leaves that are asked for at once. */
const MOST_AHEAD = 1024;
/** Bytes of output between two looks at the budget. */
const RUN_BYTES = 16 << 10;

/** Reads the rows of a range. */
export class RangeWalk implements Operation {
  readonly #cache: ChunkCache;
  readonly #cursor: Cursor;
  readonly #flags: number;
  #left: number;
  /** How many leaves to ask for at once: a short scan reads little, and a long one waits rarely. */
  #ahead = 1;
  readonly #values = new ValueWriter();

  constructor(
    cache: ChunkCache,
    tree: Tree,
    flags: number,
    rangeBytes: Uint8Array,
    offset: number,
    limit: number,
  ) {
    this.#cache = cache;
    const range = new KeyBounds(flags, rangeBytes);
    this.#cursor = new Cursor(cache, tree, range, (flags & ReadFlag.reverse) !== 0, offset);
    this.#flags = flags;
    this.#left = limit;
  }

  step(budget: Budget, out: Output): number {
    for (;;) {
      if (!this.#values.rest(this.#cache, budget, out)) return Status.yield;
      if (this.#left === 0) return Status.done;
      if (budget.isSpent) return Status.yield;
      const run = this.#run();
      if (run === undefined) return Status.done;
      const isReverse = (this.#flags & ReadFlag.reverse) !== 0;
      const before = out.length;
      let done = 0;
      while (run.from + done < run.to && this.#left > 0 && !this.#values.isReading) {
        const index = isReverse ? run.to - 1 - done : run.from + done;
        done += 1;
        this.#left -= 1;
        if ((this.#flags & ReadFlag.keys) !== 0) out.addKey(memberKey(run.leaf, index));
        if ((this.#flags & ReadFlag.values) !== 0) this.#values.write(run.leaf, index, out);
        if (out.length - before >= RUN_BYTES) break;
      }
      budget.spend(out.length - before + 32 * done);
      this.#cursor.advance(done);
    }
  }

  #run(): LeafRun | undefined {
    try {
      return this.#cursor.run();
    } catch (cause) {
      if (!(cause instanceof Need)) throw cause;
      const most = Math.min(this.#ahead, this.#left);
      this.#ahead = Math.min(4 * this.#ahead, MOST_AHEAD);
      throw this.#cache.needAlso(cause, this.#cursor.wantsAhead(most));
    }
  }

  ahead(): readonly Want[] {
    // A short scan ends before it needs more.
    if (this.#ahead < MOST_AHEAD || this.#left === 0) return [];
    return this.#cache.needAlso(new Need([]), this.#cursor.wantsAhead(MOST_AHEAD)).wants;
  }
}
