/** Reads rows in the order of an index: entries of a range, and the row of each. `crate/src/index/scan.rs`. */
import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Status from '../../base/abi/status.js';
import type { Budget } from './budget.js';
import { type ChunkCache, type Tree, wantsOf } from './chunk-cache.js';
import { Cursor } from './cursor.js';
import { Fault, Need, type Want } from './fault.js';
import { type EntryAt, findEntry } from './find.js';
import { KeyBounds } from './key-range.js';
import { memberKey } from './node.js';
import type { Operation } from './operation.js';
import type { Output } from './output.js';
import { endOfSecondary, secondaryText } from './secondary-key.js';
import { ValueWriter } from './value-reader.js';

const FIRST_BLOCK = 32;
const LARGEST_BLOCK = 1024;

/** An entry of an index, in its parts. */
interface IndexEntry {
  readonly secondary: Uint8Array;
  readonly primary: Uint8Array;
}

/** The trees of an index and of the rows, and the number of columns. */
export interface IndexedTrees {
  readonly index: Tree;
  readonly rows: Tree;
  readonly columns: number;
}

/** Reads the rows of a range of an index. */
export class IndexWalk implements Operation {
  readonly #cache: ChunkCache;
  readonly #trees: IndexedTrees;
  readonly #cursor: Cursor;
  readonly #flags: number;
  #left: number;
  #block = FIRST_BLOCK;
  #entries: IndexEntry[] = [];
  /** The number of entries that were written. */
  #next = 0;
  readonly #values = new ValueWriter();

  constructor(
    cache: ChunkCache,
    trees: IndexedTrees,
    flags: number,
    rangeBytes: Uint8Array,
    offset: number,
    limit: number,
  ) {
    this.#cache = cache;
    this.#trees = trees;
    const range = new KeyBounds(flags, rangeBytes);
    const isReverse = (flags & ReadFlag.reverse) !== 0;
    this.#cursor = new Cursor(cache, trees.index, range, isReverse, offset);
    this.#flags = flags;
    this.#left = limit;
  }

  step(budget: Budget, out: Output): number {
    for (;;) {
      if (this.#next === this.#entries.length) {
        if (budget.isSpent) return Status.yield;
        this.#gather(budget);
        if (this.#entries.length === 0) return Status.done;
      }
      const entry = this.#entries[this.#next] as IndexEntry;
      const before = out.length;
      if (!this.#values.isReading) {
        if (budget.isSpent) return Status.yield;
        this.#write(entry, out);
      }
      if (!this.#values.rest(this.#cache, budget, out)) return Status.yield;
      this.#end(entry, out);
      this.#next += 1;
      budget.spend(64 + out.length - before);
    }
  }

  /** Gathers the next block of entries, which is empty at the end. */
  #gather(budget: Budget): void {
    const entries: IndexEntry[] = [];
    const most = Math.min(this.#left, this.#block);
    while (entries.length < most && !(budget.isSpent && entries.length > 0)) {
      let run: ReturnType<Cursor['run']>;
      try {
        run = this.#cursor.run();
      } catch (cause) {
        if (!(cause instanceof Need)) throw cause;
        if (entries.length > 0) break;
        // The first block may be enough.
        const ahead = this.#block === FIRST_BLOCK ? 0 : 8;
        throw this.#cache.needAlso(cause, this.#cursor.wantsAhead(ahead));
      }
      if (run === undefined) break;
      const count = Math.min(run.to - run.from, most - entries.length);
      for (let at = 0; at < count; at++) {
        const isReverse = (this.#flags & ReadFlag.reverse) !== 0;
        entries.push(this.#split(memberKey(run.leaf, isReverse ? run.to - 1 - at : run.from + at)));
      }
      budget.spend(32 * count);
      this.#cursor.advance(count);
    }
    this.#entries = entries;
    this.#next = 0;
    this.#left -= entries.length;
    this.#block = Math.min(2 * this.#block, LARGEST_BLOCK);
  }

  #split(entry: Uint8Array): IndexEntry {
    const end = endOfSecondary(entry, this.#trees.columns);
    return { secondary: entry.subarray(0, end), primary: entry.subarray(end) };
  }

  /** Returns the fault of an index with a malformed entry, or without a row for an entry. */
  #fault(): Fault {
    return new Fault(Status.corruptChunk, this.#trees.index.root);
  }

  /** Writes the key and the value of the row of an entry, or begins to. */
  #write({ secondary, primary }: IndexEntry, out: Output): void {
    if (secondary.length === 0) throw this.#fault();
    const row = (this.#flags & ReadFlag.values) === 0 ? undefined : this.#rowOf(primary);
    if ((this.#flags & ReadFlag.keys) !== 0) out.addKey(primary);
    if (row !== undefined) this.#values.write(row.leaf, row.index, out);
  }

  #rowOf(primary: Uint8Array): EntryAt {
    let row: EntryAt | undefined;
    try {
      row = findEntry(this.#cache, this.#trees.rows, primary);
    } catch (cause) {
      if (!(cause instanceof Need)) throw cause;
      throw this.#cache.needAlso(cause, this.#wantsAhead());
    }
    if (row === undefined) throw this.#fault();
    return row;
  }

  /** Yields the wants of the other rows of this block. */
  *#wantsAhead(): Generator<Want, void, void> {
    for (const { primary } of this.#entries.slice(this.#next + 1)) {
      yield* wantsOf(() => findEntry(this.#cache, this.#trees.rows, primary));
    }
  }

  /** Writes the secondary key of an entry. */
  #end({ secondary }: IndexEntry, out: Output): void {
    if ((this.#flags & ReadFlag.secondary) === 0) return;
    const hasValues = (this.#flags & ReadFlag.values) !== 0;
    out.addText(secondaryText(secondary, this.#trees.columns, hasValues));
  }
}
