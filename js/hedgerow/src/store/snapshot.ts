import { disposable } from '../base/disposable.js';
import { ReleaseRegistry } from '../base/finalization-registry.js';
import { hex } from '../base/hex.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import { notePinned, PinnedCommit } from '../engine/read/pinned-commit.js';
import { Reader } from './reader.js';

const snapshots = new ReleaseRegistry<PinnedCommit>((held) => held.release());

/**
 * One commit of a store, which stays readable whatever is written or compacted later.
 *
 * Made by `db.snapshot()`.
 */
export class Snapshot extends Reader {
  readonly #held: PinnedCommit;
  /** As `close`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Call `db.snapshot()`. */
  constructor(branchHead: BranchHead, check: () => void) {
    const held = new PinnedCommit(branchHead, check);
    super(held);
    this.#held = held;
    notePinned(this, held);
    snapshots.add(this, held);
    branchHead.shared.host.onHandle?.(this);
    disposable(Snapshot.prototype, 'dispose', Snapshot.prototype.close);
  }

  /** The hash of all that it holds, in hexadecimal. */
  get root(): string {
    return hex(this.#held.head.commitBytes);
  }

  /** Releases the commit: refuses further reads, and lets reads under way end. Idempotent. */
  close(): void {
    snapshots.delete(this);
    this.#held.release();
  }
}
