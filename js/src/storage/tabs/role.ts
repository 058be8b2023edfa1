import { HedgerowError } from '../../base/errors.js';
import { CLOCK_SLACK_MS, LEASE_MS } from '../../base/limits.js';
import { type Locks, uniqueName } from '../../base/locks.js';

/** Called as the role changes. */
export interface RoleEvents {
  /** The lock was granted: awaited before the role counts as held. */
  onGot(): Promise<unknown>;
  /** The role is held from now on. */
  onHeld(): void;
  /** The role was lost, or is about to be released: announce in this turn all that is used. */
  onLost(): void;
}

/** One request for the lock, waiting or granted. */
class Session {
  readonly abort = new AbortController();
  /** The lock that says that this handle may use commits without pins. */
  quiet = '';
  readonly ended: Promise<void>;

  constructor() {
    this.ended = new Promise((end) => this.abort.signal.addEventListener('abort', () => end()));
  }
}

/**
 * Which handle of a store is its collector: the one that holds the lock `collector`. It need not pin what it
 * reads, since it knows that itself. All others do: see `pins.ts`.
 *
 * A suspended tab keeps its locks and does not answer, so that another tab can take the role from it. It may then
 * use commits without pins, and not know yet that it has lost the role. That is safe:
 *
 * - A handle that may use commits without pins holds a lock `quiet/<id>`. It releases the lock only after it has
 *   pinned all that it uses.
 * - The collector uses commits without pins only within `LEASE_MS` of a check of the locks. In that check no other tab
 *   may hold a quiet lock, except those that held one when it got the role. After that it checks again.
 * - A new collector that finds quiet locks of other tabs collects nothing within `LEASE_MS`. All that was stored by
 *   then stays until those locks are released: it contains everything that those tabs use without pins.
 */
export class Role {
  readonly #locks: Locks;
  readonly #prefix: string;
  readonly #events: RoleEvents;
  #session: Session | undefined;
  #isResting = false;
  #isHeld = false;
  #gotMs = 0;
  /** When the locks last showed that no other tab has the role. */
  #provenMs = 0;
  #proving: Promise<void> | undefined;
  /** The quiet locks of other tabs when this handle got the role. */
  #strangers: ReadonlySet<string> = new Set();

  constructor(locks: Locks, prefix: string, events: RoleEvents) {
    this.#locks = locks;
    this.#prefix = prefix;
    this.#events = events;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether commits that are used from now on need no pins. */
  get isSure(): boolean {
    if (!this.#isHeld || this.#locks.areKept === true) return this.#isHeld;
    const ageMs = performance.now() - this.#provenMs;
    if (ageMs > LEASE_MS / 2) void this.prove();
    return ageMs < LEASE_MS;
  }

  /** Takes the role if it is free, and else waits for it in the background. Rejects where there are no locks. */
  async start(): Promise<void> {
    this.#isResting = false;
    if (this.#session === undefined && !(await this.#ask({ ifAvailable: true }))) this.#wait();
  }

  /** Takes the role from a tab that does not answer. */
  async take(): Promise<void> {
    if (this.#isHeld || this.#isResting) return;
    this.#end();
    await this.#ask({ steal: true });
  }

  /** Releases the role, or stops waiting for it. */
  rest(): void {
    this.#isResting = true;
    this.#lose();
  }

  #wait(): void {
    // The handle may be closed meanwhile, or fail to read the store: then another one gets the role.
    if (!this.#isResting) this.#ask({}).catch(() => {});
  }

  #end(): void {
    this.#session?.abort.abort();
    this.#session = undefined;
  }

  #lose(): void {
    // Announce first: the browser handles requests and releases of locks in the order of calls.
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#events.onLost();
    }
    this.#end();
  }

  /** Requests the lock; resolves to whether the role is held, as soon as that is known. */
  #ask(how: { ifAvailable?: boolean; steal?: boolean }): Promise<boolean> {
    const session = new Session();
    this.#session = session;
    const { signal } = session.abort;
    const options = how.ifAvailable || how.steal ? how : { signal };
    return new Promise((answer, refuse) => {
      const hold = async (lock: unknown) => {
        if (lock === null) return answer(false);
        await this.#begin(session);
        answer(true);
        await session.ended;
      };
      const handleLoss = (cause: unknown) => {
        refuse(cause);
        if (this.#session !== session) return;
        // If it was held, another tab has taken it, or the browser has.
        const wasHeld = this.#isHeld;
        this.#lose();
        if (wasHeld) this.#wait();
      };
      this.#locks.request(`${this.#prefix}collector`, options, hold).catch(handleLoss);
    });
  }

  async #begin(session: Session): Promise<void> {
    let startMs = performance.now();
    if (this.#locks.areKept !== true) {
      session.quiet = `${this.#prefix}quiet/${uniqueName()}`;
      await this.#beQuiet(session);
      startMs = performance.now();
      this.#strangers = new Set(this.#quietOf((await this.#locks.query()).held ?? [], session));
    }
    await this.#events.onGot();
    if (session.abort.signal.aborted) return;
    this.#gotMs = startMs;
    this.#provenMs = startMs;
    this.#isHeld = true;
    this.#events.onHeld();
  }

  #beQuiet({ quiet, ended }: Session): Promise<void> {
    return new Promise((granted, refuse) => {
      const hold = () => {
        granted();
        return ended;
      };
      this.#locks.request(quiet, {}, hold).catch(refuse);
    });
  }

  /** The quiet locks of other tabs among `held`. */
  #quietOf(held: readonly { name?: string }[], session = this.#session): string[] {
    const start = `${this.#prefix}quiet/`;
    const names = held.map(({ name = '' }) => name);
    return names.filter((name) => name.startsWith(start) && name !== session?.quiet);
  }

  /** Renews the lease, if the locks show that no other tab has the role. */
  prove(): Promise<void> {
    this.#proving ??= this.#prove()
      .catch(() => {})
      .finally(() => {
        this.#proving = undefined;
      });
    return this.#proving;
  }

  async #prove(): Promise<void> {
    if (!this.#isHeld || this.#locks.areKept === true) return;
    const [session, startMs] = [this.#session, performance.now()];
    const others = this.#quietOf((await this.#locks.query()).held ?? []);
    if (session !== this.#session || !others.every((name) => this.#strangers.has(name))) return;
    this.#provenMs = startMs;
  }

  /** Milliseconds until this handle may collect, although a tab that lost the role may not know it yet. */
  get graceMs(): number {
    if (this.#strangers.size === 0) return 0;
    return Math.max(0, this.#gotMs + LEASE_MS + CLOCK_SLACK_MS - performance.now());
  }

  /**
   * Whether a tab that lost the role may use commits without pins, by the locks that a collection has read. Then all
   * that was stored at the first such answer must stay. Throws when nothing may be collected now.
   */
  hasStrangers(held: readonly { name?: string }[]): boolean {
    const others = this.#quietOf(held);
    if (!this.#isHeld || !others.every((name) => this.#strangers.has(name))) {
      throw new HedgerowError('blocked', 'another handle compacts the store');
    }
    if (others.length === 0) this.#strangers = new Set();
    if (this.graceMs > 0) {
      throw new HedgerowError('blocked', 'the tab that compacted before may still be at work');
    }
    return others.length > 0;
  }
}
