/**
 * Who uses what of a store, so that a collection takes nothing away from anybody.
 *
 * One of the handles of a store is its *collector*: it holds the lock `collector`, and knows
 * what it uses itself. The others announce what they use by the names of locks: `pin/<commit>`
 * for a commit that is being read, `writer/<number>` while segments of that writer are stored and
 * not committed. Locks end with their tab, so that a dead one keeps nothing alive.
 *
 * A commit is pinned under the lock `gate`, in shared mode, after the ref was read there; the
 * collector reads the ref and then looks at the locks under `gate`, in exclusive mode. So it
 * either sees the pin, or the ref was read after its own look and reaches only what that keeps.
 *
 * Nothing else brings back what no commit reaches, but a repair: that takes the lock `collecting`,
 * as a collection does.
 */
import { type Locks, localLocks } from './locks.js';

/** Something that is used until it is released. */
export interface Hold {
  release(): void;
}

/** What the collector must keep for others. */
export interface InUse {
  /** Hashes of commits. */
  readonly commits: readonly Uint8Array[];
  readonly writers: readonly number[];
}

const NOTHING: Hold = { release: () => {} };

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** What the names of the locks of a store begin with. */
export function prefixOf(storeName: string): string {
  return `hedgerow/${encodeURIComponent(storeName)}/`;
}

/** Runs `run` while nobody collects; where there are no locks nobody does. */
export function whileNotCollected<T>(
  locks: Locks | undefined,
  prefix: string,
  run: () => Promise<T>,
): Promise<T> {
  return locks === undefined ? run() : locks.request(`${prefix}collecting`, {}, run);
}

/** See the module's text. */
export class Pins {
  #locks: Locks | undefined;
  readonly #prefix: string;
  readonly #closing = new AbortController();
  /** Commits in use here, once for each use. */
  readonly #commits = new Set<{ readonly commitBytes: Uint8Array }>();
  readonly #writers = new Map<number, number>();
  /** Locks held by name, with the number of their uses. */
  readonly #held = new Map<string, { uses: number; granted: Promise<void>; end(): void }>();
  #isCollector = false;
  #onCollector = () => {};
  /** Resolves when this handle becomes the collector. */
  readonly becomesCollector: Promise<void>;

  private constructor(locks: Locks | undefined, name: string) {
    this.#locks = locks;
    this.#prefix = prefixOf(name);
    this.becomesCollector = new Promise((resolve) => {
      this.#onCollector = resolve;
    });
  }

  /**
   * The pins of one handle. Where there are no locks a handle that is alone is the collector, and
   * of those that are not nobody is. `onRole` is called, and waited for, when it becomes so later.
   */
  static async open(
    shared: Locks | undefined,
    isAlone: boolean,
    name: string,
    onRole: () => Promise<unknown>,
  ): Promise<Pins> {
    const locks = shared ?? (isAlone ? localLocks() : undefined);
    const pins = new Pins(locks, name);
    if (locks !== undefined) await pins.#apply(locks, onRole);
    return pins;
  }

  /** Pins that nobody sees, for one who makes sure that nobody collects. */
  static unseen(): Pins {
    return new Pins(undefined, '');
  }

  /** Whether nobody else collects. */
  get isCollector(): boolean {
    return this.#isCollector;
  }

  /** Whether a collector is known among the handles of the store. */
  get isCollected(): boolean {
    return this.#isCollector || this.#locks !== undefined;
  }

  async #apply(locks: Locks, onRole: () => Promise<unknown>): Promise<void> {
    const name = `${this.#prefix}collector`;
    const { signal } = this.#closing;
    const ended = new Promise<void>((end) => signal.addEventListener('abort', () => end()));
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const wait = () =>
      locks.request(name, { signal }, async () => {
        await onRole();
        this.#isCollector = !signal.aborted;
        if (this.#isCollector) this.#onCollector();
        await ended;
      });
    const first = locks.request(name, { ifAvailable: true }, async (lock) => {
      this.#isCollector = lock !== null;
      answer();
      if (lock !== null) await ended;
    });
    const refused = () => {
      // This page may have no locks after all, nor then any other of its origin: nobody collects.
      this.#locks = undefined;
      answer();
    };
    first.then(() => {
      // Closed while it waits, or unable to read the store: then another one may collect.
      if (!signal.aborted) wait().catch(() => {});
    }, refused);
    await answered;
  }

  /** Whether segments are stored here that no commit reaches yet. */
  get isWriting(): boolean {
    return this.#writers.size > 0;
  }

  /** Takes note that a commit is used here. Others must know of it: see `pin`. */
  use(commitBytes: Uint8Array): Hold {
    const used = { commitBytes };
    this.#commits.add(used);
    return { release: () => this.#commits.delete(used) };
  }

  /** Whether others must be told of what is used here. */
  get mustTell(): boolean {
    return this.isCollected && !this.#isCollector;
  }

  /** Reads a ref by `look`, which returns its commit, and pins that. */
  pinHead(look: () => Promise<Uint8Array>): Promise<Hold> {
    const locks = this.#locks;
    const pinned = async () => this.pin(await look());
    if (locks === undefined) return pinned();
    return locks.request(`${this.#prefix}gate`, { mode: 'shared' }, pinned);
  }

  /** Announces that a commit is used. It is not known whether it is whole still. */
  async pin(commitBytes: Uint8Array): Promise<Hold> {
    return this.#isCollector ? NOTHING : this.#announce(`pin/${hexOf(commitBytes)}`);
  }

  /** Announces that segments of a writer are stored and not committed. */
  async writing(writer: number): Promise<Hold> {
    this.#writers.set(writer, (this.#writers.get(writer) ?? 0) + 1);
    const hold = this.#isCollector ? NOTHING : await this.#announce(`writer/${writer}`);
    return {
      release: () => {
        const uses = (this.#writers.get(writer) ?? 1) - 1;
        if (uses > 0) this.#writers.set(writer, uses);
        else this.#writers.delete(writer);
        hold.release();
      },
    };
  }

  /** Holds a lock in shared mode; resolves when everybody can see it. */
  async #announce(what: string): Promise<Hold> {
    const locks = this.#locks;
    if (locks === undefined) return NOTHING;
    const name = this.#prefix + what;
    let held = this.#held.get(name);
    if (held === undefined) {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const granted = new Promise<void>((resolve, reject) => {
        const hold = async () => {
          resolve();
          await ended;
        };
        locks.request(name, { mode: 'shared' }, hold).catch(reject);
      });
      held = { uses: 0, granted, end };
      this.#held.set(name, held);
    }
    held.uses += 1;
    const { granted, end } = held;
    const release = () => {
      const now = this.#held.get(name);
      if (now === undefined || --now.uses > 0) return;
      this.#held.delete(name);
      end();
    };
    await granted;
    return { release };
  }

  /** What the collector must keep, of this handle and all others. */
  async inUse(): Promise<InUse> {
    const own = {
      commits: [...this.#commits].map(({ commitBytes }) => commitBytes),
      writers: [...this.#writers.keys()],
    };
    const locks = this.#locks;
    if (locks === undefined) return own;
    const held = await locks.request(`${this.#prefix}gate`, {}, async () => {
      return (await locks.query()).held ?? [];
    });
    const after = (start: string) => {
      const prefix = this.#prefix + start;
      const names = held.map(({ name = '' }) => name).filter((name) => name.startsWith(prefix));
      return names.map((name) => name.slice(prefix.length));
    };
    return {
      commits: [...own.commits, ...after('pin/').map(bytesOf)],
      writers: [...own.writers, ...after('writer/').map(Number)],
    };
  }

  /** Runs `run` while nobody collects, and no two at a time. */
  whileNotCollected<T>(run: () => Promise<T>): Promise<T> {
    return whileNotCollected(this.#locks, this.#prefix, run);
  }

  /** Runs `run` when no other handle runs what goes by the same name. */
  alone<T>(what: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const locks = this.#locks;
    return locks === undefined ? run() : locks.request(this.#prefix + what, { signal }, run);
  }

  /** Lets go of everything. */
  close(): void {
    this.#isCollector = false;
    this.#closing.abort();
    for (const { end } of this.#held.values()) end();
    this.#held.clear();
  }
}
