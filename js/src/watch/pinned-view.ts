import type { Hold } from '../tabs/pins.js';

/** A commit that somebody stands at, held until nobody does. */
export class Stand {
  readonly commitBytes: Uint8Array;
  readonly #held: Promise<Hold>;
  #uses = 1;

  constructor(commitBytes: Uint8Array, held: Hold | Promise<Hold>) {
    this.commitBytes = commitBytes;
    this.#held = Promise.resolve(held);
    // Whoever reads it finds out.
    this.#held.catch(() => {});
  }

  get isHeld(): boolean {
    return this.#uses > 0;
  }

  use(): this {
    this.#uses += 1;
    return this;
  }

  release(): void {
    this.#uses -= 1;
    if (this.#uses === 0) this.#held.then((hold) => hold.release()).catch(() => {});
  }
}
