/**
 * A bulk change under way. Keys, as JSON texts, that were edited after it was called for: those
 * edits are the last word, though they are committed before it.
 */
export type Overrides = Set<string>;

/** One of them: what it must leave alone, what it waits for, and how to end it. */
export interface Bulk {
  readonly overrides: Overrides;
  readonly before: Promise<void>;
  end(): void;
}

const NONE: readonly Overrides[] = [];

/** The bulk changes of a branch that are under way. */
export class Bulks {
  readonly #underWay = new Set<Overrides>();
  #tail: Promise<void> = Promise.resolve();

  /** The bulk changes under way, for an edit that is called for now. */
  underWay(): readonly Overrides[] {
    return this.#underWay.size === 0 ? NONE : [...this.#underWay];
  }

  /**
   * A bulk change begins. What it has at hand is committed in the order of calls: it waits for
   * `before`. One that waits for its source waits for nobody else, and nobody for it.
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
