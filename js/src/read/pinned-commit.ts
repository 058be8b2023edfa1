/** One commit of a store, which stays readable whatever is committed or collected meanwhile. */

import { HedgerowError } from '../base/errors.js';
import type { Host } from '../core/host.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { HeldCommit } from '../history/branch-refs.js';
import type { Hold } from '../tabs/pins.js';
import type { ReadContext } from './context.js';

/** What a snapshot reads: one commit, held until it is released. It must not hold the snapshot, which may be forgotten. */
export class PinnedCommit implements ReadContext {
  readonly isPinned = true;
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly #checkStore: () => void;
  #head: Head;
  /** The instance of the core that the view is of. */
  #epoch: number;
  /** Uses of the view; the snapshot is one. */
  #uses = 1;
  #isReleased = false;
  #view: Hold;
  #hold: Hold | undefined;
  #holding: Promise<void> | undefined;
  #reopening: Promise<void> | undefined;

  constructor(branchHead: BranchHead, checkStore: () => void) {
    const { shared, head, headPin } = branchHead;
    const { isWhole } = headPin;
    this.branchHead = branchHead;
    this.host = shared.host;
    this.#checkStore = checkStore;
    this.#head = head;
    const { engine } = this.host;
    this.#epoch = engine.isReady ? engine.epoch : -1;
    // In this turn: what is whole now is then kept, the announcement to other tabs included,
    // for which a lock is held already.
    this.#view = branchHead.useView(head.view);
    const holding = isWhole ? shared.hold(head.commitBytes) : shared.holdAny(head.commitBytes);
    this.#holding = holding.then((hold) => {
      if (this.#uses === 0) hold.release();
      this.#hold = hold;
      this.#holding = undefined;
    });
    this.#holding.catch(() => {});
    if (isWhole) this.#holding = undefined;
    headPin.keep();
  }

  get head(): Head {
    return this.#head;
  }

  get isReady(): boolean {
    const { engine } = this.host;
    return this.#holding === undefined && engine.isReady && engine.epoch === this.#epoch;
  }

  check(): void {
    this.#checkStore();
    if (this.#isReleased) throw new HedgerowError('closed', 'the snapshot was released');
  }

  async ready(): Promise<void> {
    await this.#holding;
    while (!this.isReady) {
      this.check();
      this.#reopening ??= this.#reopen().finally(() => {
        this.#reopening = undefined;
      });
      await this.#reopening;
    }
  }

  /** Opens the view again in an instance that has taken the place of one that trapped. */
  async #reopen(): Promise<void> {
    const { host, branchHead } = this;
    const { engine } = host;
    if (!engine.isReady) await host.recover();
    const { epoch } = engine;
    const { commitBytes } = this.#head;
    const { view, rows } = await branchHead.shared.openView(commitBytes);
    if (this.#uses === 0 || engine.epoch !== epoch) {
      engine.closeView(view);
      return;
    }
    this.#head = { ...this.#head, view, rows };
    this.#epoch = epoch;
    this.#view.release();
    this.#view = { release: () => engine.closeView(view) };
  }

  async holdHead(): Promise<HeldHead> {
    if (!this.isReady) await this.ready();
    this.check();
    this.#uses += 1;
    return { head: this.#head, release: () => this.#unuse() };
  }

  async moveOn(head: Head): Promise<boolean> {
    return head !== this.#head;
  }

  #unuse(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    this.#view.release();
    this.#hold?.release();
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#unuse();
  }

  /** Holds the commit for a change of the store that `commits` is of. */
  async holdFor(branchHead: BranchHead): Promise<HeldCommit> {
    if (this.branchHead.shared !== branchHead.shared) {
      throw new HedgerowError('invalid-argument', 'the snapshot is of another store');
    }
    this.check();
    await this.#holding;
    const { commitBytes } = this.#head;
    const { release } = await this.branchHead.shared.hold(commitBytes);
    return { commitBytes, release };
  }
}

/** A snapshot, for those who only ask which commit it holds. */
export interface Pinned {
  /** The hash of all that it holds, in hexadecimal. */
  readonly root: string;
  release(): void;
}

const pinnedCommits = new WeakMap<object, PinnedCommit>();

/** Notes what a snapshot holds. */
export function notePinned(snapshot: Pinned, pinned: PinnedCommit): void {
  pinnedCommits.set(snapshot, pinned);
}

/** What `value` holds, if it is a snapshot that this copy of the package has made. */
export function pinnedOf(value: unknown): PinnedCommit | undefined {
  return typeof value === 'object' && value !== null ? pinnedCommits.get(value) : undefined;
}
