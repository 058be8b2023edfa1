/** Lines of calls, and which rows each of them allows a store to hold. */
import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../doubles/simulated-connection.js';

export type Rows = ReadonlyMap<string, unknown>;

interface State {
  readonly rows: Rows;
  /** The generations at which its call was begun and answered. */
  readonly begunAt: number;
  doneAt?: number;
  /** It was answered when it was durable. */
  isStrict?: boolean;
}

export type Answered = (generation: number, isStrict: boolean) => void;

/**
 * Keys that one line of calls has for itself. Calls of a line are committed in their order: each
 * state follows from the one before by one call, or one commit of a call that makes several.
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

  /** A call begins that will lead to `steps`; returns what to do when it is answered. */
  begin(begunAt: number, ...steps: Rows[]): Answered {
    const states = steps.map((rows): State => ({ rows, begunAt }));
    this.#states.push(...states);
    return (generation, isStrict) => {
      for (const state of states) Object.assign(state, { doneAt: generation, isStrict });
    };
  }

  /** Nothing came of the last call: no generation up to this one has its rows. */
  undo(generation: number): void {
    this.#states.pop();
    this.begin(generation, this.rows)(generation, false);
  }

  /** Whether `rows` may be there at a commit; only the last state is when `isSettled`. */
  allows(rows: Rows, generation: number, isSettled: boolean): boolean {
    const isDone = ({ doneAt = Infinity, isStrict }: State) =>
      doneAt <= generation || isStrict === true;
    const first = isSettled ? this.#states.length - 1 : this.#states.findLastIndex(isDone);
    return this.#states
      .slice(first)
      .filter(({ begunAt }, at) => at === 0 || begunAt < generation)
      .some((state) => isDeepStrictEqual(state.rows, rows));
  }

  /** Goes on from what was found; states before may come back unless all of it is durable. */
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
