/**
 * The puts and deletes of single rows that were called on a handle and are not committed yet. A read of one of their
 * keys waits for them, so that calls take effect in their order.
 */
export class PendingEdits {
  /** A promise for each key, which settles when the key's last edit is committed or refused. */
  readonly #edits = new Map<string, Promise<void>>();

  /** Adds an edit, until `done` settles. */
  add(key: string, done: Promise<void>): void {
    const over = () => {
      if (this.#edits.get(key) === ended) this.#edits.delete(key);
    };
    const ended = done.then(over, over);
    this.#edits.set(key, ended);
  }

  /** Resolves when the last edit of a key is committed or refused; `undefined` without pending edits of the key. */
  of(key: string): Promise<void> | undefined {
    return this.#edits.get(key);
  }

  /** Resolves when all pending edits are committed or refused; `undefined` without pending edits. */
  all(): Promise<unknown> | undefined {
    return this.#edits.size === 0 ? undefined : Promise.all(this.#edits.values());
  }

  /**
   * Resolves when the pending edits of some keys are committed or refused; `undefined` without pending edits of these
   * keys.
   */
  ofAll(isAmong: (key: string) => boolean): Promise<unknown> | undefined {
    let all: Promise<unknown> | undefined;
    for (const [key, ended] of this.#edits) {
      if (isAmong(key)) all = all ? Promise.all([all, ended]) : ended;
    }
    return all;
  }
}
