/** Lines of calls, and the rows that each of them allows a store to hold. */
import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../doubles/simulated-connection.js';

export type Rows = ReadonlyMap<string, unknown>;

interface State {
  readonly rows: Rows;
  /** The generations at which its call was begun and answered. */
  readonly begunAt: number;
  doneAt?: number;
  /** Whether it was answered only when durable. */
  isStrict?: boolean;
}

export type Answered = (generation: number, isStrict: boolean) => void;

/**
 * The keys of one line of calls. Calls of a line are committed in their order: each state follows from the one before
 * by one call, or by one commit of a call that makes several.
 */
export class Line {
  readonly prefix: string;
  /** Whether all of its calls have been answered. */
  isSettled = true;
  /** The tab that makes them. */
  tab: Connection | undefined;
  #states: State[] = [];

  constructor(prefix: string) {
    this.prefix = prefix;
    this.resume(new Map(), 0, true);
  }

  /** The rows after all calls so far. */
  get rows(): Rows {
    return this.#states.at(-1)?.rows ?? new Map();
  }

  /** Begins a call that will lead to `steps`; returns a function that takes its answer. */
  begin(begunAt: number, ...steps: Rows[]): Answered {
    const states = steps.map((rows): State => ({ rows, begunAt }));
    this.#states.push(...states);
    return (generation, isStrict) => {
      for (const state of states) Object.assign(state, { doneAt: generation, isStrict });
    };
  }

  /** Removes the last call, which had no effect: no generation up to this one has its rows. */
  undo(generation: number): void {
    this.#states.pop();
    this.begin(generation, this.rows)(generation, false);
  }

  /** Returns whether a commit may have `rows`; if `isSettled`, only the last state may. */
  allows(rows: Rows, generation: number, isSettled: boolean): boolean {
    const isDone = ({ doneAt = Infinity, isStrict }: State) =>
      doneAt <= generation || isStrict === true;
    const first = isSettled ? this.#states.length - 1 : this.#states.findLastIndex(isDone);
    return this.#states
      .slice(first)
      .filter(({ begunAt }, at) => at === 0 || begunAt < generation)
      .some((state) => isDeepStrictEqual(state.rows, rows));
  }

  /** Continues from the found rows; earlier states may come back unless everything is durable. */
  resume(rows: Rows, generation: number, isDurable: boolean): void {
    if (isDurable) this.#states = [];
    this.begin(generation, rows)(generation, isDurable);
    this.isSettled = true;
  }

  toString(): string {
    return this.#states
      .map(({ rows, begunAt, doneAt, isStrict }) =>
        [begunAt, doneAt ?? '-', isStrict ? 'strict' : '', ...rows.keys()].join(' '),
      )
      .join('\n');
  }
}

export function withPuts(
  rows: Map<string, unknown>,
  puts: readonly (readonly [string, unknown])[],
): Rows {
  for (const [key, value] of puts) rows.set(key, value);
  return rows;
}

export function inOrder(rows: Rows): [string, unknown][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}
