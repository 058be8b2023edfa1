import { HedgerowError } from '../../base/errors.js';
import { CLOCK_SLACK_MS, LEASE_MS } from '../../base/limits.js';
import { type Locks, uniqueName } from '../../base/locks.js';

/** Called as the role changes. */
export interface RoleEvents {
  /** Called when the lock is granted, and awaited before the role counts as held. */
  onGot(): Promise<unknown>;
  /** Called when the handle has the role. */
  onHeld(): void;
  /** Called after a loss of the role, or before its release: announce in this turn all commits in use. */
  onLost(): void;
}

/** One request for the lock, waiting or granted. */
class Session {
  readonly abort = new AbortController();
  /** The name of the lock that says that this handle may use commits without pins. */
  quiet = '';
  readonly ended: Promise<void>;

  constructor() {
    this.ended = new Promise((end) => this.abort.signal.addEventListener('abort', () => end()));
  }
}

/**
 * The role of the collector of a store, which the handle with the lock `collector` has. It need not pin the commits
 * that it reads, since it knows them. All other handles pin them: see `pins.ts`.
 *
 * A suspended tab keeps its locks and does not answer, so another tab can take the role from it. The suspended tab may
 * then use commits without pins, and not know yet that it has lost the role. That is safe:
 *
 * - A handle that may use commits without pins holds a lock `quiet/<id>`. It releases the lock only after it has pinned
 *   all commits in use.
 * - The collector uses commits without pins only within `LEASE_MS` of a check of the locks. In that check no other tab
 *   may hold a quiet lock, except tabs that held one when it got the role. After that it checks again.
 * - A new collector that finds quiet locks of other tabs does not collect within `LEASE_MS`. All that was stored by
 *   then stays until the release of these locks: it contains everything that these tabs use without pins.
 */
export class CollectorRole {
  readonly #locks: Locks;
  readonly #prefix: string;
  readonly #events: RoleEvents;
  #session: Session | undefined;
  #isResting = false;
  #isHeld = false;
  #gotMs = 0;
  /** The time when the locks last showed that no other tab has the role. */
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

  /** Identifies the time since this handle got the role: another object each time. */
  get term(): object | undefined {
    return this.#isHeld ? this.#session : undefined;
  }

  /** Whether new uses of commits need no pins. */
  get isSure(): boolean {
    if (!this.#isHeld || this.#locks.areKept === true) return this.#isHeld;
    const ageMs = performance.now() - this.#provenMs;
    if (ageMs > LEASE_MS / 2) void this.prove();
    return ageMs < LEASE_MS;
  }

  /** Takes the role if it is free, and else waits for it in the background. Rejects without locks. */
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
    // The handle may be closed in the meantime, or fail to read the store: then another one gets the role.
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
        // If this handle had the role, another tab or the browser has taken it.
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

  /** Lists the quiet locks of other tabs among `held`. */
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
   * Returns whether a tab that lost the role may use commits without pins, by the locks that a collection has read since
   * its beginning in `term`. Then all that was stored at the first such answer of the term must stay. Throws if the
   * handle may not collect now.
   */
  hasStrangers(held: readonly { name?: string }[], term: object | undefined): boolean {
    const others = this.#quietOf(held);
    const isSameTerm = term !== undefined && term === this.term;
    if (!isSameTerm || !others.every((name) => this.#strangers.has(name))) {
      throw new HedgerowError('blocked', 'another handle compacts the store');
    }
    if (others.length === 0) this.#strangers = new Set();
    if (this.graceMs > 0) {
      throw new HedgerowError('blocked', 'the tab that compacted before may still be at work');
    }
    return others.length > 0;
  }
}
