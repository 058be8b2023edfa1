import { sameBytes } from '../../base/bytes.js';
import type { AnnouncedHold, Pins } from '../../storage/tabs/pins.js';
import type { SharedStore, StoreBranch } from './state-shared-by-branches.js';

/** The branch whose head is pinned. */
export interface PinnedBranch extends StoreBranch {
  readonly shared: SharedStore;
  readonly pins: Pins;
  refresh(): Promise<unknown>;
}

/**
 * Keeps all chunks of a branch's head stored while the head is held. The collector needs no pin. Other tabs pin the
 * commit, which must still be the head after that: see `tabs/pins.ts`.
 */
export class HeadPin {
  readonly #branch: PinnedBranch;
  #pinned: { readonly commitBytes: Uint8Array; readonly pin: AnnouncedHold } | undefined;
  #isKept = false;
  #keeping: Promise<void> | undefined;

  constructor(branch: PinnedBranch) {
    this.#branch = branch;
  }

  /** Whether all chunks of the head are stored, and stay stored if it is held in this turn. */
  get isWhole(): boolean {
    const { head, pins } = this.#branch;
    const pinned = this.#pinned;
    return (pinned?.commitBytes === head.commitBytes && pinned.pin.isSeen) || !pins.mustTell;
  }

  /** Makes sure that the head can be held; may move the head. Run it exclusively. */
  async ensure(): Promise<void> {
    if (this.isWhole) return;
    const { pins, shared } = this.#branch;
    await pins.prove();
    if (this.isWhole || (await this.#pin())) return;
    // Other tabs keep committing: join the queue of writers.
    do shared.writerQueue.noteRace();
    while (!(await shared.writerQueue.hold(() => this.#pin())));
  }

  /** Pins the head; `false` if the head had moved by the time the pin was granted. */
  async #pin(): Promise<boolean> {
    const branch = this.#branch;
    const { commitBytes } = branch.head;
    const pin = await branch.pins.pin(commitBytes);
    try {
      await branch.refresh();
    } catch (cause) {
      pin.release();
      throw cause;
    }
    if (!sameBytes(commitBytes, branch.head.commitBytes)) {
      pin.release();
      return false;
    }
    this.drop();
    this.#pinned = { commitBytes: branch.head.commitBytes, pin };
    return true;
  }

  /** Releases the pin. */
  drop(): void {
    this.#pinned?.pin.release();
    this.#pinned = undefined;
  }

  /** Pins every new head at once from now on. So a call that must hold the head in its own turn nearly always can. */
  keep(): void {
    this.#isKept = true;
    if (this.isWhole) return;
    const { shared } = this.#branch;
    const ensure = async () => {
      this.#keeping = undefined;
      if (shared.branchHeads.has(this.#branch)) await this.ensure();
    };
    this.#keeping ??= shared.queueRead(ensure).catch(() => {
      this.#keeping = undefined;
    });
  }

  /** Pins the new head if heads are kept. */
  noteHeadMove(): void {
    if (this.#isKept) this.keep();
  }
}
