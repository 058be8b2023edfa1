/** One commit of a store, which stays readable whatever is committed or collected meanwhile. */
import type { Commits } from './commit.js';
import { disposable } from './disposable.js';
import { hex } from './engine.js';
import { Forgotten } from './forgotten.js';
import { notePinned, PinnedCommit } from './pinned-commit.js';
import { Reader } from './reads.js';

const snapshots = new Forgotten<PinnedCommit>((held) => held.release());

/** See the module's text. Made by `db.snapshot()`. */
export class Snapshot extends Reader {
  readonly #held: PinnedCommit;
  /** As `release`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Call `db.snapshot()`. */
  constructor(commits: Commits, check: () => void) {
    const held = new PinnedCommit(commits, check);
    super(held);
    this.#held = held;
    notePinned(this, held);
    snapshots.add(this, held);
    disposable(Snapshot.prototype, 'dispose', Snapshot.prototype.release);
  }

  /** The hash of all that it holds, in hexadecimal. */
  get root(): string {
    return hex(this.#held.head.commitBytes);
  }

  /** Lets go of the commit: reads are refused from now on; those under way end. Idempotent. */
  release(): void {
    snapshots.delete(this);
    this.#held.release();
  }
}
