import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { type Locks, localLocks } from '../base/locks.js';
import { withLock } from '../base/timeout.js';
import { Role } from './role.js';

/** Something that is used until it is released. */
export interface Hold {
  /** Whether others see it, where they must: a browser may take locks away from a page that it suspends. */
  readonly isSeen?: boolean;
  release(): void;
}

/** What is announced by a lock. */
export type Announced = Hold & { readonly isSeen: boolean };

/** A commit in use here. */
interface Use {
  readonly commitBytes: Uint8Array;
  announced?: Promise<Announced>;
}

const NOTHING: Announced = { isSeen: true, release: () => {} };

/** What the names of the locks of a store begin with, whose name `checkName` has passed. */
export function prefixOf(storeName: string): string {
  return `hedgerow/${encodeURIComponent(storeName)}/`;
}

/** The name of the lock that announces that a commit is used, without the prefix. */
function pinOf(commitBytes: Uint8Array): string {
  return `pin/${hex(commitBytes)}`;
}

/** Holds a lock in shared mode; `granted` resolves when everybody can see it. */
class Announcement {
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

/** Announces that a commit is used, in a store that is not open here. */
export async function pinned(
  locks: Locks | undefined,
  storeName: string,
  commitBytes: Uint8Array,
): Promise<Hold> {
  if (locks === undefined) return NOTHING;
  const own = new Announcement(locks, prefixOf(storeName) + pinOf(commitBytes), () => {});
  await own.granted;
  return { release: () => own.end() };
}

/**
 * Who uses what of a store, so that a collection takes nothing away from anybody.
 *
 * One of the handles of a store is its collector, see `role.ts`, and knows what it uses itself. The
 * others announce what they use by the names of locks: `pin/<commit>` for a commit that is being
 * read. Every handle announces `writer/<number>` while segments of that writer are stored and not
 * committed. Locks end with their tab, so that a dead one keeps nothing alive. These are only ever
 * asked for in shared mode: nobody waits for them.
 *
 * A commit is pinned first, and then it is looked at storage: if a ref stands there still, no
 * collection takes it. A collection looks at refs, then at the locks, then at refs again; so it has
 * seen the pin, or its look at the locks was before, and a ref stood at the commit after that. Why
 * that is enough is told in `docs/reliability.md`.
 */
export class Pins {
  /** None where nobody collects. */
  locks: Locks | undefined;
  readonly prefix: string;
  readonly role: Role | undefined;
  /** Commits in use here, once for each use. */
  readonly uses = new Set<Use>();
  /** Writers at work here, with the number of their changes. */
  readonly writers = new Map<number, number>();
  /** What is announced here, by the name of its lock. */
  readonly #announced = new Map<string, Announcement>();
  /** Called when this handle has become the collector, or is it no more. */
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
    this.role = new Role(locks, this.prefix, { onGot, onHeld, onLost });
  }

  /**
   * The pins of one handle. Where there are no locks a handle that is alone is the collector, and
   * of those that are not nobody is. `onGot` is called, and waited for, before it becomes so.
   */
  static async open(
    shared: Locks | undefined,
    isAlone: boolean,
    name: string,
    onGot: () => Promise<unknown>,
  ): Promise<Pins> {
    const locks = shared ?? (isAlone ? localLocks() : undefined);
    const pins = new Pins(locks, name, onGot);
    await pins.wake().catch(() => {
      // This page may have no locks after all, nor then any other of its origin: nobody collects.
      pins.locks = undefined;
    });
    return pins;
  }

  /** Pins that nobody sees, for one who makes sure that nobody collects. */
  static unseen(): Pins {
    return new Pins(undefined, '');
  }

  /** Whether nobody else collects. */
  get isCollector(): boolean {
    return this.role?.isHeld === true;
  }

  /** Whether a collector is known among the handles of the store. */
  get isCollected(): boolean {
    return this.locks !== undefined;
  }

  /** Whether others must be told of what is used here. */
  get mustTell(): boolean {
    return this.isCollected && this.role?.isSure !== true;
  }

  /** Makes sure that this handle is the collector, if it is. */
  async prove(): Promise<void> {
    await this.role?.prove();
  }

  /** Whether segments are stored here that no commit reaches yet. */
  get isWriting(): boolean {
    return this.writers.size > 0;
  }

  /** Announces that a commit is used, if others must know. It is not known whether it is whole still. */
  async pin(commitBytes: Uint8Array): Promise<Announced> {
    return this.mustTell ? this.#announce(pinOf(commitBytes)) : NOTHING;
  }

  /** Takes note in this turn that a commit is used here; resolves when others know what they must. */
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
    use.announced = this.#announce(pinOf(use.commitBytes));
    use.announced.catch(() => {});
  }

  /** Announces that segments of a writer are stored and not committed. */
  async writing(writer: number): Promise<Hold> {
    this.writers.set(writer, (this.writers.get(writer) ?? 0) + 1);
    const announced = await this.#announce(`writer/${writer}`);
    const release = () => {
      const uses = (this.writers.get(writer) ?? 1) - 1;
      if (uses > 0) this.writers.set(writer, uses);
      else this.writers.delete(writer);
      announced.release();
    };
    return {
      get isSeen() {
        return announced.isSeen;
      },
      release,
    };
  }

  async #announce(what: string): Promise<Announced> {
    const locks = this.locks;
    if (locks === undefined) return NOTHING;
    const name = this.prefix + what;
    // What was refused, or taken away, is asked for anew the next time.
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

  /**
   * Runs `run` when no other handle runs what goes by the same name, or after `ms` milliseconds beside it: see
   * `withLock`.
   */
  alone<T>(
    what: string,
    ms: number,
    run: (isAlone: boolean) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return withLock(this.locks, this.prefix + what, ms, run, signal);
  }

  /** The page may be suspended: lets go of what others wait for, and announces in this turn all that is used. */
  rest(): void {
    this.role?.rest();
  }

  /** Asks again for what `rest` has let go of, and for what the browser has taken away. */
  async wake(): Promise<void> {
    const isSeen = async (announced: Promise<Announced> | undefined) =>
      (await announced?.catch(() => undefined))?.isSeen === true;
    for (const use of this.uses) {
      if (use.announced !== undefined && !(await isSeen(use.announced))) this.#tell(use);
    }
    await this.role?.start();
  }

  /** Lets go of everything. */
  close(): void {
    this.uses.clear();
    this.role?.rest();
    for (const { end } of this.#announced.values()) end();
    this.#announced.clear();
  }
}
