import { sameBytes } from '../base/bytes.js';
import type { Announced, Pins } from '../tabs/pins.js';
import type { SharedStore, StoreBranch } from './shared-store.js';

/** The branch whose head is pinned. */
export interface PinnedBranch extends StoreBranch {
  readonly shared: SharedStore;
  readonly pins: Pins;
  refresh(): Promise<unknown>;
}

/**
 * Keeps the head of a branch whole while it is held. In the tab that collects it is. Elsewhere it is pinned, and must
 * still be the head after that: see `tabs/pins.ts`.
 */
export class HeadPin {
  readonly #branch: PinnedBranch;
  #pinned: { readonly commitBytes: Uint8Array; readonly pin: Announced } | undefined;
  #isKept = false;
  #keeping: Promise<void> | undefined;

  constructor(branch: PinnedBranch) {
    this.#branch = branch;
  }

  /** Whether the head is whole, and stays so if it is held in this turn. */
  get isWhole(): boolean {
    const { head, pins } = this.#branch;
    const pinned = this.#pinned;
    return (pinned?.commitBytes === head.commitBytes && pinned.pin.isSeen) || !pins.mustTell;
  }

  /** Sees to it that the head may be held; run it exclusively. The head may move on. */
  async ensure(): Promise<void> {
    if (this.isWhole) return;
    const { pins, shared } = this.#branch;
    await pins.prove();
    if (this.isWhole || (await this.#pin())) return;
    // Others commit again and again.
    do shared.writerQueue.noteRace();
    while (!(await shared.writerQueue.hold(() => this.#pin())));
  }

  /** Pins the head; `false` when that was not the head any more by then. */
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

  /** Announces the head no more. */
  drop(): void {
    this.#pinned?.pin.release();
    this.#pinned = undefined;
  }

  /**
   * Has every head pinned from now on as soon as it has moved, so that one that is held in the turn of
   * the call is nearly always found whole.
   */
  keep(): void {
    this.#isKept = true;
    if (this.isWhole) return;
    const { shared } = this.#branch;
    const ensure = async () => {
      this.#keeping = undefined;
      if (shared.branchHeads.has(this.#branch)) await this.ensure();
    };
    this.#keeping ??= shared.queued(ensure).catch(() => {
      this.#keeping = undefined;
    });
  }

  /** The head has moved. */
  moved(): void {
    if (this.#isKept) this.keep();
  }
}
