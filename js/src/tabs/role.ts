import { HedgerowError } from '../base/errors.js';
import { CLOCK_SLACK_MS, LEASE_MS } from '../base/limits.js';
import { type Locks, uniqueName } from '../base/locks.js';

/** What is told of the role. */
export interface RoleEvents {
  /** It was got: called, and waited for, before it counts. */
  onGot(): Promise<unknown>;
  /** It is held, and counts. */
  onHeld(): void;
  /** It is held no more, or about to be let go of: what is used must be announced in this turn. */
  onLost(): void;
}

/** Holding the lock, or waiting for it. */
class Session {
  readonly abort = new AbortController();
  /** Where it is announced that something may be used unannounced. */
  quiet = '';
  readonly ended: Promise<void>;

  constructor() {
    this.ended = new Promise((end) => this.abort.signal.addEventListener('abort', () => end()));
  }
}

/**
 * Which handle of a store collects: the one that holds the lock `collector`. It need not announce what
 * it reads, since it knows that itself. All others do: see `pins.ts`.
 *
 * A tab that is suspended keeps its locks and answers nobody, so the role can be taken from it. It may
 * then use commits that it has not announced, and does not know yet that it has lost the role. That is
 * safe:
 *
 * - Whoever may use something unannounced holds a lock `quiet/<id>`, and lets go of it only after
 *   having announced all that it uses.
 * - The holder of the role uses something unannounced only within `LEASE_MS` of a look at the locks at
 *   which no other tab was quiet, those apart that were when it got the role. After that it looks again.
 * - A new holder that finds another tab quiet collects nothing within `LEASE_MS`. What was stored by
 *   then stays until that tab is quiet no more: whatever it uses unannounced is among that.
 */
export class Role {
  readonly #locks: Locks;
  readonly #prefix: string;
  readonly #events: RoleEvents;
  #session: Session | undefined;
  #isResting = false;
  #isHeld = false;
  #gotMs = 0;
  /** When it was last seen that nobody else has the role. */
  #provenMs = 0;
  #proving: Promise<void> | undefined;
  /** Those who were quiet when the role was got. */
  #strangers: ReadonlySet<string> = new Set();

  constructor(locks: Locks, prefix: string, events: RoleEvents) {
    this.#locks = locks;
    this.#prefix = prefix;
    this.#events = events;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether what is used from now on need not be announced. */
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

  /** Takes the role from a tab that is silent. */
  async take(): Promise<void> {
    if (this.#isHeld || this.#isResting) return;
    this.#end();
    await this.#ask({ steal: true });
  }

  /** Lets go of the role, or waits for it no more. */
  rest(): void {
    this.#isResting = true;
    this.#lose();
  }

  #wait(): void {
    // It may be closed while it waits, or unable to read the store: then another one may have the role.
    if (!this.#isResting) this.#ask({}).catch(() => {});
  }

  #end(): void {
    this.#session?.abort.abort();
    this.#session = undefined;
  }

  #lose(): void {
    // First all is announced: locks are asked for and let go of in this order.
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#events.onLost();
    }
    this.#end();
  }

  /** Asks for the lock; resolves to whether the role is held, as soon as that is known. */
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
      const lost = (cause: unknown) => {
        refuse(cause);
        if (this.#session !== session) return;
        // If it was held, another tab has taken it, or the browser has.
        const wasHeld = this.#isHeld;
        this.#lose();
        if (wasHeld) this.#wait();
      };
      this.#locks.request(`${this.#prefix}collector`, options, hold).catch(lost);
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

  /** The other tabs among `held` that may use something unannounced. */
  #quietOf(held: readonly { name?: string }[], session = this.#session): string[] {
    const start = `${this.#prefix}quiet/`;
    const names = held.map(({ name = '' }) => name);
    return names.filter((name) => name.startsWith(start) && name !== session?.quiet);
  }

  /** Makes sure of the role, if it is held. */
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

  /** Milliseconds until something may be collected beside a tab that lost the role and is silent. */
  get graceMs(): number {
    if (this.#strangers.size === 0) return 0;
    return Math.max(0, this.#gotMs + LEASE_MS + CLOCK_SLACK_MS - performance.now());
  }

  /**
   * By the locks that a collection has found: whether all must stay that was stored when it was first
   * asked so, since a tab that lost the role may use it. Throws when nothing may be collected now.
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
