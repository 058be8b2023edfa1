/**
 * The keys, as JSON texts, that were edited after a bulk change in progress was called. Those edits win, though
 * they are committed before it.
 */
export type Overrides = Set<string>;

/** A bulk change in progress: keys that it must not write, what it waits for, and how to end it. */
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

  /** Settles when the bulk changes and calls before now that need nobody have ended. */
  get tail(): Promise<void> {
    return this.#tail;
  }

  /** Settles when all calls of `beginCall` so far have ended; `undefined` if there are none. Edits that come later wait for it. */
  get calls(): Promise<void> | undefined {
    return this.#calls;
  }

  /** The bulk changes in progress, for an edit that is called now. */
  underWay(): readonly Overrides[] {
    return this.#underWay.size === 0 ? NONE : [...this.#underWay];
  }

  /**
   * Begins a bulk change. Those whose rows are all in memory commit in the order of calls: each waits for
   * `before`. One that waits for its source neither waits for others nor delays them.
   */
  begin(isAtHand: boolean): Bulk {
    return this.#bulk(isAtHand ? this.#inLine() : ALONE);
  }

  /**
   * Begins a change that depends on what the store has, or whose result does: it waits for `before`, and edits that are called
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
