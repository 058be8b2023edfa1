/** The indexes that a handle was opened with, and how much of each a commit has. */

import * as State from '../../base/abi/index-state.js';
import * as ReadFlag from '../../base/abi/read-flag.js';
import { checkSignal, until } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { type EncodedRange, encodeRange, type KeyRange } from '../../base/range.js';
import { type Index, type IndexDefinition, indexOf } from './definition.js';
import { type EntryCut, type IndexRange, positionsOf } from './index-range.js';

/** Definitions, by the names that `scan` takes. */
export type IndexDefinitions = Readonly<Record<string, IndexDefinition>>;

/** Checks definitions. Throws `invalid-argument`. */
export function indexesOf(definitions: IndexDefinitions = {}): Index[] {
  return Object.entries(definitions).map(([name, definition]) => indexOf(name, definition));
}

/** How much of an index a commit has. */
export { State };

/** Returns whether a range is of an index. `range` may be malformed: `base/check-options.ts` reports that. */
export function isOfIndex(range: KeyRange | IndexRange): range is IndexRange {
  try {
    return (range as IndexRange).index !== undefined;
  } catch {
    return false;
  }
}

/** The core's view of indexes. It numbers them from 1, in the order of `setIndexes`. */
export interface IndexCore {
  setIndexes(definitions: readonly string[]): void;
  /** Returns how much of an index the commit of a view has: a `State`. */
  indexState(view: number, index: number): number;
  /** Counts the indexes that the commit of a view has, complete or not. */
  indexCount(view: number): number;
}

/** The indexes that a handle was opened with, and which of them a commit has. */
export class IndexSet {
  readonly all: readonly Index[];
  readonly #core: IndexCore;
  /** The definitions without duplicates: two names may have the same one. */
  readonly #texts: readonly string[];
  /** Reads that wait for indexes; each waits for one builder (`by`). */
  readonly #waiting = new Set<{ readonly by: object; settle(failure?: unknown): void }>();
  readonly #makers = new Map<object, () => void>();

  constructor(core: IndexCore, all: readonly Index[]) {
    this.#core = core;
    this.all = all;
    this.#texts = [...new Set(all.map(({ text }) => text))];
    core.setIndexes(this.#texts);
  }

  /** Returns the index with a name. Throws `invalid-argument` if `open` did not get it. */
  get(name: string): Index {
    const found = this.all.find((index) => index.name === name);
    if (found !== undefined) return found;
    const message = `open was given no index ${name}: add it to indexes`;
    throw new HedgerowError('invalid-argument', message);
  }

  #numberOf({ text }: Index): number {
    return this.#texts.indexOf(text) + 1;
  }

  /** Returns whether a commit also has indexes that are not in this set. */
  hasOthers(view: number): boolean {
    const exists = (_: string, at: number) => this.#core.indexState(view, at + 1) !== State.none;
    return this.#core.indexCount(view) > this.#texts.filter(exists).length;
  }

  /** Returns how much of an index the commit of a view has. */
  state(view: number, index: Index): number {
    return this.#core.indexState(view, this.#numberOf(index));
  }

  /** Encodes a range of rows, or of an index on one side of a cut. */
  encode(range: KeyRange | IndexRange, cut?: EntryCut): EncodedRange {
    if (!isOfIndex(range)) return encodeRange(range);
    const index = this.get(range.index);
    return this.encodePositions(index, positionsOf(index, range, cut));
  }

  /** Encodes a range of positions in an index. */
  encodePositions(index: Index, positions: KeyRange): EncodedRange {
    const { flags, rangeBytes } = encodeRange(positions);
    return { flags: flags | (this.#numberOf(index) << ReadFlag.indexShift), rangeBytes };
  }

  /** Registers `make`, which starts building the missing indexes of `by`; without `make`, removes it. */
  madeBy(by: object, make?: () => void): void {
    if (make === undefined) this.#makers.delete(by);
    else this.#makers.set(by, make);
  }

  /** Starts building, and resolves at the next progress; rejects if building fails. */
  async progress(by: object, signal?: AbortSignal): Promise<void> {
    checkSignal(signal);
    const settled = new Promise<void>((resolve, reject) => {
      const waiting = {
        by,
        settle: (failure?: unknown) => {
          this.#waiting.delete(waiting);
          if (failure === undefined) resolve();
          else reject(failure);
        },
      };
      this.#waiting.add(waiting);
    });
    const make = this.#makers.get(by);
    if (make === undefined) this.tell(by, new HedgerowError('closed', 'the store is closed'));
    else make();
    await until(settled, signal);
  }

  /** Settles the reads that wait for `by`: they reject if there is a `failure`. */
  tell(by: object, failure?: unknown): void {
    for (const waiting of [...this.#waiting]) if (waiting.by === by) waiting.settle(failure);
  }
}
