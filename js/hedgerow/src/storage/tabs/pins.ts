import { HedgerowError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { lateLocks } from '../../base/late-locks.js';
import type { Locks } from '../../base/locks.js';
import { CollectorRole } from './collector-role.js';

/** A use that lasts until its release. */
export interface Hold {
  /** Whether other tabs see it, if they must: a browser may take locks away from a suspended page. */
  readonly isSeen?: boolean;
  release(): void;
}

/** A hold that a lock announces to other tabs. */
export type AnnouncedHold = Hold & { readonly isSeen: boolean };

/** A commit in use here. */
interface Use {
  readonly commitBytes: Uint8Array;
  announced?: Promise<AnnouncedHold>;
}

/** The hold of a commit that needs no lock. */
export const NO_LOCK: AnnouncedHold = { isSeen: true, release: () => {} };

/** Returns the prefix of the names of a store's locks. The name must have passed `checkStoreName`. */
export function prefixOf(storeName: string): string {
  return `hedgerow/${encodeURIComponent(storeName)}/`;
}

/** Returns the name of the pin of a commit, without the prefix. */
export function pinOf(commitBytes: Uint8Array): string {
  return `pin/${hex(commitBytes)}`;
}

/** A lock in shared mode; `granted` resolves when other tabs can see it. */
export class Announcement {
  uses = 0;
  isSeen = false;
  readonly granted: Promise<void>;
  end = () => {};

  constructor(locks: Locks, name: string, onEnd: () => void) {
    const ended = new Promise<void>((resolve) => {
      this.end = resolve;
    });
    this.granted = new Promise((resolve, reject) => {
      const hold = () => {
        this.isSeen = true;
        resolve();
        return ended;
      };
      const over = (cause?: unknown) => {
        this.isSeen = false;
        onEnd();
        reject(new HedgerowError('blocked', 'the browser refuses a lock', { cause }));
      };
      locks.request(name, { mode: 'shared' }, hold).then(over, over);
    });
    this.granted.catch(() => {});
  }
}

/**
 * The commits and writers that a handle uses, announced so that no collection deletes them.
 *
 * One handle of a store is its collector, see `collector-role.ts`, and knows what it uses itself. The others announce by the
 * names of locks what they use: `pin/<commit>` for a commit that they read. Every handle announces `writer/<number>`
 * while segments of that writer are stored and not committed. Locks end with their tab, so that a dead tab keeps no
 * commit. All requests are in shared mode, so that none waits.
 *
 * A handle first pins a commit, then reads storage: if a ref still points to the commit, no collection deletes it. A
 * collection reads the refs, then the locks, then the refs again. So either it saw the pin, or a ref pointed to the
 * commit after the collection had read the locks. `docs/reliability.md` shows why that is enough.
 */
export class Pins {
  /** `undefined` where no handle collects. */
  locks: Locks | undefined;
  readonly prefix: string;
  readonly role: CollectorRole | undefined;
  /** Commits in use here, once for each use. */
  readonly uses = new Set<Use>();
  /** Numbers of the writers at work here, with the count of changes of each. */
  readonly writers = new Map<number, number>();
  /** The announcements of this handle, by the names of their locks. */
  readonly #announced = new Map<string, Announcement>();
  /** Called when this handle has become the collector, or has lost that role. */
  onRole: () => void = () => {};

  private constructor(
    locks: Locks | undefined,
    name: string,
    onGot: () => Promise<unknown> = async () => {},
  ) {
    this.locks = locks;
    this.prefix = prefixOf(name);
    if (locks === undefined) return;
    const onHeld = () => this.onRole();
    const onLost = () => {
      for (const use of this.uses) this.#tell(use);
      this.onRole();
    };
    this.role = new CollectorRole(locks, this.prefix, { onGot, onHeld, onLost });
  }

  /**
   * Opens the pins of one handle. Without locks, a handle that `isAlone` is the collector, and other handles have no
   * collector. Calls and awaits `onGot` before this handle becomes the collector.
   */
  static async open(
    shared: Locks | undefined,
    isAlone: boolean,
    name: string,
    onGot: () => Promise<unknown>,
  ): Promise<Pins> {
    const locks = shared ?? (isAlone ? lateLocks() : undefined);
    const pins = new Pins(locks, name, onGot);
    await pins.wake().catch(() => {
      // This page may have no locks after all. Then no page of its origin has locks, or collects.
      pins.locks = undefined;
    });
    return pins;
  }

  /** Makes pins that no other tab sees, for a caller that prevents collections in another way. */
  static unseen(): Pins {
    return new Pins(undefined, '');
  }

  /** Whether this handle is the collector. */
  get isCollector(): boolean {
    return this.role?.isHeld === true;
  }

  /** Whether the store can have a collector, which needs locks. */
  get isCollected(): boolean {
    return this.locks !== undefined;
  }

  /** Whether this handle must announce what it uses. */
  get mustTell(): boolean {
    return this.isCollected && this.role?.isSure !== true;
  }

  /** Renews the lease of the role, if this handle is still the collector. */
  async prove(): Promise<void> {
    await this.role?.prove();
  }

  /** Whether segments are stored here that no commit reaches yet. */
  get isWriting(): boolean {
    return this.writers.size > 0;
  }

  /** Pins a commit, if this handle must announce what it uses. Parts of the commit may be deleted already. */
  async pin(commitBytes: Uint8Array): Promise<AnnouncedHold> {
    return this.mustTell ? this.announce(pinOf(commitBytes)) : NO_LOCK;
  }

  /** Records in this turn that a commit is used here; resolves once other tabs can see the pin, if they must. */
  async use(commitBytes: Uint8Array): Promise<Hold> {
    const use: Use = { commitBytes };
    this.uses.add(use);
    if (this.mustTell) this.#tell(use);
    const release = () => {
      this.uses.delete(use);
      use.announced?.then((announced) => announced.release()).catch(() => {});
    };
    try {
      await use.announced;
    } catch (cause) {
      release();
      throw cause;
    }
    return { release };
  }

  #tell(use: Use): void {
    use.announced = this.announce(pinOf(use.commitBytes));
    use.announced.catch(() => {});
  }

  /** Announces a use to other tabs by a lock with this name. */
  async announce(what: string): Promise<AnnouncedHold> {
    const locks = this.locks;
    if (locks === undefined) return NO_LOCK;
    const name = this.prefix + what;
    // A lock that was refused, or taken away, is requested again at its next use.
    const forget = () => {
      if (this.#announced.get(name) === own) this.#announced.delete(name);
    };
    const own = this.#announced.get(name) ?? new Announcement(locks, name, () => forget());
    this.#announced.set(name, own);
    own.uses += 1;
    const release = () => {
      if (--own.uses > 0) return;
      forget();
      own.end();
    };
    try {
      await own.granted;
    } catch (cause) {
      release();
      throw cause;
    }
    return {
      get isSeen() {
        return own.isSeen;
      },
      release,
    };
  }

  /** Releases the role, and requests in this turn pins for all commits in use, since the page may be suspended. */
  rest(): void {
    this.role?.rest();
  }

  /** Requests again the role that `rest` released, and the pins that the browser took away. */
  async wake(): Promise<void> {
    const isSeen = async (announced: Promise<AnnouncedHold> | undefined) =>
      (await announced?.catch(() => undefined))?.isSeen === true;
    for (const use of this.uses) {
      if (use.announced !== undefined && !(await isSeen(use.announced))) this.#tell(use);
    }
    await this.role?.start();
  }

  /** Releases everything. */
  close(): void {
    this.uses.clear();
    this.role?.rest();
    for (const { end } of this.#announced.values()) end();
    this.#announced.clear();
  }
}
