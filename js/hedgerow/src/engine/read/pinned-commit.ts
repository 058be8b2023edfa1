/** One commit of a store that stays readable until it is released. */

import { HedgerowError } from '../../base/errors.js';
import type { Host } from '../../core/operation-host.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead, Head, HeldHead } from '../history/branch-head.js';
import type { ReadContext } from './context.js';

/** The commit of a snapshot. It must not reference the snapshot: else a dropped one is never garbage-collected. */
export class PinnedCommit implements ReadContext {
  readonly isPinned = true;
  readonly host: Host;
  readonly branchHead: BranchHead;
  readonly #checkStore: () => void;
  #head: Head;
  /** The epoch of the core instance that has the view. */
  #epoch: number;
  /** Uses of the view; the snapshot itself is one. */
  #uses = 1;
  #isReleased = false;
  #view: Hold;
  #hold: Hold | undefined;
  /** Settles when the commit is held; then becomes `undefined`. */
  holding: Promise<void> | undefined;
  #reopening: Promise<void> | undefined;

  constructor(branchHead: BranchHead, checkStore: () => void) {
    const { shared, head, headPin } = branchHead;
    const { isWhole } = headPin;
    this.branchHead = branchHead;
    this.host = shared.host;
    this.#checkStore = checkStore;
    this.#head = head;
    const { engine } = head.host;
    this.#epoch = engine.isReady ? engine.epoch : -1;
    // Do this in the turn of the call, while the handle's own lock pins the head: a complete commit then stays
    // complete, and other tabs never see it without a pin.
    this.#view = branchHead.useView(head);
    const holding = isWhole ? shared.hold(head.commitBytes) : shared.holdAny(head.commitBytes);
    this.holding = holding.then((hold) => {
      if (this.#uses === 0) hold.release();
      this.#hold = hold;
      this.holding = undefined;
    });
    this.holding.catch(() => {});
    if (isWhole) this.holding = undefined;
    headPin.keep();
  }

  get head(): Head {
    return this.#head;
  }

  get isReady(): boolean {
    const { host } = this.#head;
    const { engine } = host;
    const isOpen = host === this.branchHead.shared.opening && engine.isReady;
    return this.holding === undefined && isOpen && engine.epoch === this.#epoch;
  }

  check(): void {
    this.#checkStore();
    if (this.#isReleased) throw new HedgerowError('closed', 'the snapshot was released');
  }

  async ready(): Promise<void> {
    await this.holding;
    while (!this.isReady) {
      this.check();
      this.#reopening ??= this.#reopen().finally(() => {
        this.#reopening = undefined;
      });
      await this.#reopening;
    }
  }

  /** Opens the view again: in the core that has taken over from the reader, or in the instance after a trap. */
  async #reopen(): Promise<void> {
    const { shared } = this.branchHead;
    if (!shared.opening.engine.isReady) await shared.ready();
    const { engine } = shared.opening;
    const { epoch } = engine;
    const { commitBytes } = this.#head;
    const { host, view, rows } = await shared.openView(commitBytes, shared.opening);
    if (this.#uses === 0 || engine.epoch !== epoch) {
      engine.closeView(view);
      return;
    }
    this.#head = { ...this.#head, host, view, rows };
    this.#epoch = epoch;
    this.#view.release();
    this.#view = { release: () => engine.closeView(view) };
  }

  async holdHead(): Promise<HeldHead> {
    if (!this.host.engine.isReady) await this.host.recover();
    return this.holdToRead();
  }

  async holdToRead(): Promise<HeldHead> {
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
}

/** A snapshot, reduced to its root. */
export interface SnapshotRoot {
  /** The hash of the snapshot's commit, in hexadecimal. */
  readonly root: string;
  close(): void;
}

const pinnedCommits = new WeakMap<object, PinnedCommit>();

/** Registers the commit of a snapshot. */
export function notePinned(snapshot: SnapshotRoot, pinned: PinnedCommit): void {
  pinnedCommits.set(snapshot, pinned);
}

/** Returns the commit of `value`, if that is a snapshot that this copy of the package made. */
export function pinnedOf(value: unknown): PinnedCommit | undefined {
  return typeof value === 'object' && value !== null ? pinnedCommits.get(value) : undefined;
}
