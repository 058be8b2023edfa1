/**
 * Has the head of a branch stay whole while it is held. In the tab that collects it does. Elsewhere it
 * is pinned, and then it must still be the head: see `pins.ts`.
 */
import { type Commits, isSame } from './commit.js';
import type { Announced } from './pins.js';

/** See the module's text. */
export class Cover {
  readonly #commits: Commits;
  #pinned: { readonly commitBytes: Uint8Array; readonly pin: Announced } | undefined;
  #isKept = false;
  #keeping: Promise<void> | undefined;

  constructor(commits: Commits) {
    this.#commits = commits;
  }

  /** Whether the head is whole, and stays so if it is held in this turn. */
  get isWhole(): boolean {
    const { head, pins } = this.#commits;
    const pinned = this.#pinned;
    return (pinned?.commitBytes === head.commitBytes && pinned.pin.isSeen) || !pins.mustTell;
  }

  /** Sees to it that the head may be held; run it exclusively. The head may move on. */
  async ensure(): Promise<void> {
    if (this.isWhole) return;
    const { pins, trunk } = this.#commits;
    await pins.prove();
    if (this.isWhole || (await this.#pin())) return;
    // Others commit again and again.
    do trunk.lane.noteRace();
    while (!(await trunk.lane.hold(() => this.#pin())));
  }

  /** Pins the head; `false` when that was not the head any more by then. */
  async #pin(): Promise<boolean> {
    const commits = this.#commits;
    const { commitBytes } = commits.head;
    const pin = await commits.pins.pin(commitBytes);
    try {
      await commits.refresh();
    } catch (cause) {
      pin.release();
      throw cause;
    }
    if (!isSame(commitBytes, commits.head.commitBytes)) {
      pin.release();
      return false;
    }
    this.drop();
    this.#pinned = { commitBytes: commits.head.commitBytes, pin };
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
    const { trunk } = this.#commits;
    const ensure = async () => {
      this.#keeping = undefined;
      if (trunk.lines.has(this.#commits)) await this.ensure();
    };
    this.#keeping ??= trunk.queued(ensure).catch(() => {
      this.#keeping = undefined;
    });
  }

  /** The head has moved. */
  moved(): void {
    if (this.#isKept) this.keep();
  }
}
