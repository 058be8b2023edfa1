/** Definitions of the indexes that a handle was opened with, and how far a commit has each. */

import * as State from '../base/abi/index-state.js';
import * as ReadFlag from '../base/abi/read-flag.js';
import { HedgerowError } from '../base/errors.js';
import { type EncodedRange, encodeRange, type KeyRange } from '../base/range.js';
import { checkSignal, until } from '../base/signal.js';
import { type IndexRange, positionsOf } from './columns.js';
import { type Index, type IndexDefinition, indexOf } from './definition.js';

/** Definitions by the names that `scan` takes. */
export type IndexDefinitions = Readonly<Record<string, IndexDefinition>>;

/** Checks definitions; throws `invalid-argument`. */
export function indexesOf(definitions: IndexDefinitions = {}): Index[] {
  return Object.entries(definitions).map(([name, definition]) => indexOf(name, definition));
}

/** How far an index is there. */
export { State };

/** Whether a range is one of an index. It may be anything: `base/options.ts` says what is wrong with it. */
export function isOfIndex(range: KeyRange | IndexRange): range is IndexRange {
  try {
    return (range as IndexRange).index !== undefined;
  } catch {
    return false;
  }
}

/** What the core tells of indexes; it knows each by its number, from 1, in the order of `setIndexes`. */
export interface IndexCore {
  setIndexes(definitions: readonly string[]): void;
  /** How far the commit of a view has an index: a `State`. */
  indexState(view: number, index: number): number;
  /** How many indexes the commit of a view has, complete or not. */
  indexCount(view: number): number;
}

/** The indexes that a handle was opened with, and which of them a commit has. */
export class IndexSet {
  readonly all: readonly Index[];
  readonly #core: IndexCore;
  /** Definitions, each once: two names may have the same. */
  readonly #texts: readonly string[];
  /** Who waits, each for those that one of the handles makes. */
  readonly #waiting = new Set<{ readonly by: object; settle(failure?: unknown): void }>();
  readonly #makers = new Map<object, () => void>();

  constructor(core: IndexCore, all: readonly Index[]) {
    this.#core = core;
    this.all = all;
    this.#texts = [...new Set(all.map(({ text }) => text))];
    core.setIndexes(this.#texts);
  }

  /** The index of a name; throws `invalid-argument`. */
  get(name: string): Index {
    const found = this.all.find((index) => index.name === name);
    if (found !== undefined) return found;
    const message = `open was given no index ${name}: add it to indexes`;
    throw new HedgerowError('invalid-argument', message);
  }

  #numberOf({ text }: Index): number {
    return this.#texts.indexOf(text) + 1;
  }

  /** Whether a commit has others, too. */
  hasOthers(view: number): boolean {
    const isThere = (_: string, at: number) => this.#core.indexState(view, at + 1) !== State.none;
    return this.#core.indexCount(view) > this.#texts.filter(isThere).length;
  }

  /** How far a commit has an index. */
  state(view: number, index: Index): number {
    return this.#core.indexState(view, this.#numberOf(index));
  }

  /** Encodes a range of rows or of an index. */
  encode(range: KeyRange | IndexRange): EncodedRange {
    if (!isOfIndex(range)) return encodeRange(range);
    const index = this.get(range.index);
    const { flags, rangeBytes } = encodeRange(positionsOf(index, range));
    return { flags: flags | (this.#numberOf(index) << ReadFlag.indexShift), rangeBytes };
  }

  /** `make` has the commits of `by` get what they lack; none does when it is absent. */
  madeBy(by: object, make?: () => void): void {
    if (make === undefined) this.#makers.delete(by);
    else this.#makers.set(by, make);
  }

  /** Resolves when one of them may have come further; rejects when that failed. */
  async progress(by: object, signal?: AbortSignal): Promise<void> {
    checkSignal(signal);
    const told = new Promise<void>((resolve, reject) => {
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
    await until(told, signal);
  }

  /** Tells those who wait for `by` of progress, or of a failure. */
  tell(by: object, failure?: unknown): void {
    for (const waiting of [...this.#waiting]) if (waiting.by === by) waiting.settle(failure);
  }
}
