/**
 * The keys, as JSON texts, of edits that were called after the start of a bulk change in progress. These edits win,
 * though they are committed before it.
 */
export type Overrides = Set<string>;

/**
 * A bulk change in progress: the keys that it must not write, the promise that it waits for, and the function that ends
 * it.
 */
export interface Bulk {
  readonly overrides: Overrides;
  readonly before: Promise<void>;
  end(): void;
}

type Turn = Pick<Bulk, 'before' | 'end'>;

const NONE: readonly Overrides[] = [];
const ALONE: Turn = { before: Promise.resolve(), end: () => {} };

/** The bulk changes of a branch that are in progress. */
export class Bulks {
  readonly #underWay = new Set<Overrides>();
  #tail: Promise<void> = Promise.resolve();
  #calls: Promise<void> | undefined;

  /** Settles when all earlier calls, and all earlier bulk changes that wait for no source, have ended. */
  get tail(): Promise<void> {
    return this.#tail;
  }

  /**
   * Settles when all earlier calls of `beginCall` have ended; `undefined` without such calls. Later edits wait for it.
   */
  get calls(): Promise<void> | undefined {
    return this.#calls;
  }

  /** Returns the bulk changes in progress, for an edit that is called now. */
  underWay(): readonly Overrides[] {
    return this.#underWay.size === 0 ? NONE : [...this.#underWay];
  }

  /**
   * Begins a bulk change. Bulk changes with all rows in memory commit in the order of calls: each waits for `before`. A
   * bulk change that waits for its source neither waits for others nor delays them.
   */
  begin(isAtHand: boolean): Bulk {
    return this.#bulk(isAtHand ? this.#inLine() : ALONE);
  }

  /**
   * Begins a change that depends on stored rows, or whose result does: it waits for `before`, and edits that are called
   * later wait for its end.
   */
  beginCall(): Bulk {
    const turn = this.#inLine();
    const calls = this.#tail;
    this.#calls = calls;
    void calls.then(() => {
      if (this.#calls === calls) this.#calls = undefined;
    });
    return this.#bulk(turn);
  }

  #bulk({ before, end: release }: Turn): Bulk {
    const overrides: Overrides = new Set();
    this.#underWay.add(overrides);
    const end = () => {
      this.#underWay.delete(overrides);
      release();
    };
    return { overrides, before, end };
  }

  #inLine(): Turn {
    const before = this.#tail;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#tail = before.then(() => ended);
    return { before, end };
  }
}
