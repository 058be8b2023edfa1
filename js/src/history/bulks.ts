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

const NONE: readonly Overrides[] = [];

/** The bulk changes of a branch that are in progress. */
export class Bulks {
  readonly #underWay = new Set<Overrides>();
  #tail: Promise<void> = Promise.resolve();

  /** The bulk changes in progress, for an edit that is called now. */
  underWay(): readonly Overrides[] {
    return this.#underWay.size === 0 ? NONE : [...this.#underWay];
  }

  /**
   * Begins a bulk change. Those whose rows are all in memory commit in the order of calls: each waits for
   * `before`. One that waits for its source neither waits for others nor delays them.
   */
  begin(isAtHand: boolean): Bulk {
    const overrides: Overrides = new Set();
    this.#underWay.add(overrides);
    const before = isAtHand ? this.#tail : Promise.resolve();
    let release = () => {};
    if (isAtHand) {
      const ended = new Promise<void>((resolve) => {
        release = resolve;
      });
      this.#tail = before.then(() => ended);
    }
    const end = () => {
      this.#underWay.delete(overrides);
      release();
    };
    return { overrides, before, end };
  }
}
