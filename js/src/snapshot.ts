/** One commit of a store, which stays readable whatever is committed or collected meanwhile. */
import type { Commits, Head, HeldHead } from './commit.js';
import { disposable } from './disposable.js';
import { hex } from './engine.js';
import { HedgerowError } from './errors.js';
import { Forgotten } from './forgotten.js';
import type { Host } from './host.js';
import type { Hold } from './pins.js';
import { Reader } from './reads.js';
import type { Standpoint } from './standpoint.js';

/** What a snapshot stands on. It must not hold the snapshot, which may be forgotten. */
class HeldCommit implements Standpoint {
  readonly isPinned = true;
  readonly host: Host;
  readonly commits: Commits;
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

  constructor(commits: Commits, checkStore: () => void) {
    const { trunk, head, isCovered } = commits;
    this.commits = commits;
    this.host = trunk.host;
    this.#checkStore = checkStore;
    this.#head = head;
    const { engine } = this.host;
    this.#epoch = engine.isReady ? engine.epoch : -1;
    // In this turn: what is whole now is then kept, the announcement to other tabs included,
    // for which a lock is held already.
    this.#view = commits.useView(head.view);
    const holding = isCovered ? trunk.hold(head.commitBytes) : trunk.holdAny(head.commitBytes);
    this.#holding = holding.then((hold) => {
      if (this.#uses === 0) hold.release();
      this.#hold = hold;
      this.#holding = undefined;
    });
    this.#holding.catch(() => {});
    if (isCovered) this.#holding = undefined;
    commits.keepCovered();
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
    const { host, commits } = this;
    const { engine } = host;
    if (!engine.isReady) await host.recover();
    const { epoch } = engine;
    const { commitBytes } = this.#head;
    const { view, rows } = await commits.openView(commitBytes);
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

  /** Holds the commit for another use, whole as it is. */
  async hold(): Promise<Hold> {
    this.check();
    await this.#holding;
    return this.commits.hold(this.#head.commitBytes);
  }
}

const snapshots = new Forgotten<HeldCommit>((held) => held.release());

/** See the module's text. Made by `db.snapshot()`. */
export class Snapshot extends Reader {
  readonly #held: HeldCommit;
  /** As `release`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Call `db.snapshot()`. */
  constructor(commits: Commits, check: () => void) {
    const held = new HeldCommit(commits, check);
    super(held);
    this.#held = held;
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

  /** Whether `value` is a snapshot that this copy of the package has made. */
  static is(value: unknown): value is Snapshot {
    return typeof value === 'object' && value !== null && #held in value;
  }

  /** Holds what `snapshot` holds, for a change of the store that `commits` is of. */
  static async hold(
    snapshot: Snapshot,
    commits: Commits,
  ): Promise<Hold & { readonly commitBytes: Uint8Array }> {
    const held = snapshot.#held;
    if (held.commits.trunk !== commits.trunk) {
      throw new HedgerowError('invalid-argument', 'the snapshot is of another store');
    }
    const { release } = await held.hold();
    return { commitBytes: held.head.commitBytes, release };
  }
}
