/**
 * Puts and deletes of single rows that a handle has been called for and that are not committed yet.
 * Its reads come after them, as in the order of calls: a read of one of their keys waits.
 */
export class Pending {
  /** When the last edit of a key is committed or refused. */
  readonly #edits = new Map<string, Promise<void>>();

  /** Takes in an edit, until it is done with. */
  add(key: string, done: Promise<void>): void {
    const over = () => {
      if (this.#edits.get(key) === ended) this.#edits.delete(key);
    };
    const ended = done.then(over, over);
    this.#edits.set(key, ended);
  }

  /** Resolves when the last edit of a key is done with; `undefined` when there is none. */
  of(key: string): Promise<void> | undefined {
    return this.#edits.get(key);
  }

  /** Resolves when the edits so far of some keys are done with; `undefined` when there are none. */
  ofAll(isAmong: (key: string) => boolean): Promise<unknown> | undefined {
    if (this.#edits.size === 0) return undefined;
    return Promise.all([...this.#edits].map(([key, ended]) => isAmong(key) && ended));
  }
}
