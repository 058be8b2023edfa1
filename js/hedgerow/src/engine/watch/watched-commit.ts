import type { Hold } from '../../storage/tabs/pins.js';

/** A commit that watchers are at. It is held until the last watcher releases it. */
export class WatchedCommit {
  readonly commitBytes: Uint8Array;
  readonly #held: Promise<Hold>;
  #uses = 1;

  constructor(commitBytes: Uint8Array, held: Hold | Promise<Hold>) {
    this.commitBytes = commitBytes;
    this.#held = Promise.resolve(held);
    // A pass that reads the commit reports the failure.
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
