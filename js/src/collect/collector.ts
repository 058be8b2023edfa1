import * as CollectFlag from '../base/abi/collect-flag.js';
import { HedgerowError, isMissing } from '../base/errors.js';
import { turn } from '../base/scheduler.js';
import { pause } from '../base/timeout.js';
import { cacheStats } from '../core/calls/segments.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import { factsOf } from '../history/fence.js';
import { FENCE_REF } from '../history/inventory.js';
import { type Answer, Asking } from '../tabs/collect-requests.js';
import type { AskedMessage, Tabs } from '../tabs/tabs.js';
import { Collection, type CompactResult, type LastTime } from './collection.js';
import { isDue, isDueAtRest, isDueWhenFull, isPressing, mustWait, type Room } from './due.js';

/** How often a store is looked at, in milliseconds, while there are commits. */
const LOOK_MS = 1000;
/** So long after the last commit writers rest. */
const REST_MS = 1500;
/** How long a collection that is due waits for the browser to be idle, in milliseconds. */
const IDLE_MS = 1000;
/** How often it is tried again when others have moved what it looked at. */
const MAX_TRIES = 8;
/** So often a tab that does not collect finds a collection due before it asks for one. */
const MAX_OVERDUE = 3;
/** How long a commit, and the next segments of a load, wait for room that this tab cannot make. */
const COMMIT_WAIT_MS = 100;
const LOAD_WAIT_MS = 1000;

/** Resolves when the browser has time, where it can tell. */
function idle(): Promise<void> {
  // Safari has none.
  if (typeof requestIdleCallback === 'undefined') return turn();
  return new Promise((resolve) => requestIdleCallback(() => resolve(), { timeout: IDLE_MS }));
}

function isPassing(cause: unknown): boolean {
  return isMissing(cause) || (cause instanceof HedgerowError && cause.code === 'conflict');
}

/**
 * Has the room given back of what no commit reaches any more: when it is due, or somebody asks for it.
 */
export class Collector {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: Tabs | undefined;
  readonly #others: Asking | undefined;
  readonly #last: LastTime = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #changedMs = 0;
  #running: Promise<CompactResult> | undefined;
  #current: Collection | undefined;
  #asking: Promise<unknown> | undefined;
  #overdue = 0;
  /** Called when room was freed, when a collection has ended, and when the store or the role has changed. */
  #waiting: (() => void)[] = [];
  /** Called now and then while it collects. */
  readonly #alive = new Set<() => void>();
  #floor = 0;
  #before: number | undefined;
  #smallBefore = 0;
  /** Why the last collection failed; `undefined` after one that did not. */
  failure: unknown;
  /** There was no room for a copy: little is copied at a time. */
  #isSparing = false;
  /** There was no room for a change. */
  #wasFull = false;
  #closed = false;

  /** Of a store that `tabs` are told of. */
  constructor(host: Host, branchHead: BranchHead, tabs: Tabs | undefined) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#tabs = tabs;
    const answer: Answer = (isFull, alive) => this.#answer(isFull, alive);
    this.#others = tabs && new Asking(tabs, answer);
    branchHead.shared.room = (isBulk) => this.#waitForRoom(isBulk);
  }

  /** The store has changed, or its role has: looks soon whether there is something to collect. */
  changed(): void {
    this.#wake();
    if (this.#closed || !this.#branchHead.pins.isCollected) return;
    this.#changedMs = performance.now();
    if (this.#branchHead.pins.isCollector && this.#is(isPressing)) this.#start(0);
    this.#lookLater();
  }

  /** There was no room for a change: what is dead is to go soon, though it may not be much. */
  full(): void {
    this.#wasFull = true;
    this.changed();
  }

  /** Whether a rule of `due.ts` says so now. */
  #is(rule: (room: Room) => boolean): boolean {
    try {
      return this.#host.engine.isReady && rule(this.#room());
    } catch {
      // The core has trapped, which the next call of a user will hear.
      return false;
    }
  }

  #lookLater(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, LOOK_MS);
    // Node must not wait for it.
    (this.#timer as { unref?(): void }).unref?.();
  }

  #look(): void {
    const { pins } = this.#branchHead;
    const hasRested = performance.now() - this.#changedMs >= REST_MS;
    const isAtRest = hasRested && !pins.isWriting;
    if (pins.isCollector) {
      const rule = isAtRest ? isDueAtRest : isDue;
      if (this.#is(rule) || (this.#wasFull && this.#is(isDueWhenFull))) {
        // What fills a full store may be dead values.
        this.#start((isAtRest ? CollectFlag.rest : 0) | (this.#wasFull ? CollectFlag.full : 0));
      } else this.#keepBallast().catch(() => {});
    } else {
      // The one that collects has seen it, too, if it is awake.
      this.#overdue = this.#is(isDue) ? this.#overdue + 1 : 0;
      if (this.#overdue >= MAX_OVERDUE) this.#ask();
    }
    if (!isAtRest || this.#overdue > 0) this.#lookLater();
  }

  /** Keeps room for deletions, where there is some. */
  async #keepBallast(): Promise<void> {
    const { engine, segments } = this.#host;
    if (this.#closed || !engine.isReady) return;
    await segments.keepBallast?.(cacheStats(engine).storedBytes);
  }

  #room(): Room {
    const { shared, inventory, head } = this.#branchHead;
    const { storedBytes: stored, smallSegments: small } = cacheStats(this.#host.engine);
    const { unusedBytes: unused } = shared;
    const { live, rows } = factsOf(inventory.refs.get(FENCE_REF));
    // Of a store that was never looked at all may be dead.
    this.#before ??= live > 0 ? stored : 0;
    return {
      stored,
      unused,
      live,
      part: rows > 0 ? Math.min(1, head.rows / rows) : 1,
      floor: this.#floor,
      before: this.#before,
      small,
      smallBefore: this.#smallBefore,
    };
  }

  /** Milliseconds until anything may be collected. */
  get #graceMs(): number {
    return this.#branchHead.pins.role?.graceMs ?? 0;
  }

  async #grace(): Promise<void> {
    if (this.#graceMs > 0) await pause(this.#graceMs);
  }

  /** Begins to collect when there is time. What is wrong with the store its readers will hear. */
  #start(flags: number): void {
    if (this.#running !== undefined || this.#closed) return;
    this.#begin(async () => {
      await this.#grace();
      await idle();
      return this.#collect(flags);
    }).catch(() => {});
  }

  /** Collects; a full collection reads all leaves where values are stored out of line. */
  collect(isFull: boolean): Promise<CompactResult> {
    return this.#begin(() => this.#collect(isFull ? CollectFlag.full : 0));
  }

  #begin(collect: () => Promise<CompactResult>): Promise<CompactResult> {
    const before = this.#running ?? Promise.resolve();
    const running = before
      .catch(() => {})
      .then(collect)
      .then(
        (result) => {
          this.failure = undefined;
          return result;
        },
        (error) => {
          this.failure = error;
          throw error;
        },
      )
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
        this.#wake();
        this.#lookLater();
      });
    this.#running = running;
    return running;
  }

  async #collect(flags: number): Promise<CompactResult> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#collectOnce(flags);
      } catch (cause) {
        // Others have moved what it looked at, or begun to use what was gone already.
        if (tries < MAX_TRIES && !this.#closed && isPassing(cause)) continue;
        this.#failed(cause);
        throw cause;
      }
    }
  }

  /** What is damaged is not looked at again and again, but when there is more. */
  #failed(cause: unknown): void {
    const { engine } = this.#host;
    if (!engine.isReady || (cause instanceof HedgerowError && cause.code === 'blocked')) return;
    this.#before = cacheStats(engine).storedBytes;
    this.#floor = this.#before;
  }

  /** Gives back what is dead, for a deletion that found no room. */
  async makeRoom(isFull: boolean): Promise<void> {
    await this.#grace();
    await this.collect(isFull);
  }

  async #collectOnce(flags: number): Promise<CompactResult> {
    const { shared, inventory, head } = this.#branchHead;
    const { values } = factsOf(inventory.refs.get(FENCE_REF));
    const onFreed = () => {
      this.#tabs?.announceGone();
      this.#wake();
    };
    const onSlice = () => {
      for (const alive of this.#alive) alive();
    };
    const collection = new Collection(shared, head.rows, { onFreed, onSlice });
    this.#current = collection;
    try {
      // At rest there is time to find out which values are live.
      const valuesBefore = flags === CollectFlag.rest ? values / 2 : values;
      const wasSparing = this.#isSparing;
      const sparing = wasSparing ? CollectFlag.sparing : 0;
      const result = await collection.run(flags | sparing, valuesBefore, this.#last);
      this.#isSparing = collection.wasFull;
      this.#wasFull = false;
      if (collection.wasFull && !wasSparing && !this.#closed) {
        return { ...(await this.#collectOnce(flags)), bytesBefore: result.bytesBefore };
      }
      await this.#keepBallast().catch(() => {});
      this.#smallBefore = cacheStats(this.#host.engine).smallSegments;
      this.#floor = collection.floor;
      // Not what was stored beside it: that it has not looked at.
      this.#before = collection.floor;
      return result;
    } finally {
      this.#current = undefined;
    }
  }

  /** Collects, or has the tab collect that does; takes its place when it is silent. */
  async request(): Promise<CompactResult> {
    const { pins } = this.#branchHead;
    if (!pins.isCollector) {
      if (!pins.isCollected) {
        const why =
          'compact() needs Web Locks to know what other tabs use, and this context lacks them';
        const remedy = 'serve the page over https, or open with idb({ exclusive: true })';
        throw new HedgerowError('blocked', `${why}: ${remedy}`);
      }
      if (this.#others === undefined) {
        throw new HedgerowError(
          'blocked',
          'another open handle compacts this store: call it there',
        );
      }
      const result = await Promise.race([this.#others.ask(true), this.#becomesCollector()]);
      if (result !== undefined) return result as CompactResult;
      await this.#takeRole();
    }
    await this.#grace();
    return this.collect(true);
  }

  async #takeRole(): Promise<void> {
    await this.#branchHead.pins.role?.take().catch((cause: unknown) => {
      throw new HedgerowError('blocked', 'another tab began to compact the store: try again', {
        cause,
      });
    });
  }

  async #becomesCollector(): Promise<undefined> {
    const { pins } = this.#branchHead;
    while (!pins.isCollector && !this.#closed) await this.#event();
  }

  /** Asks the tab that collects to do so; takes its place when it is silent. */
  #ask(): void {
    this.#overdue = 0;
    const ask = async () => {
      const result = await this.#others?.ask(false);
      if (result !== undefined || this.#closed || this.#others === undefined) return;
      await this.#takeRole();
    };
    this.#asking ??= ask()
      .catch(() => {})
      .finally(() => {
        this.#asking = undefined;
      });
  }

  /** Hears of collections that tabs ask each other for. */
  hear(message: AskedMessage): void {
    this.#others?.hear(message);
  }

  /** Another tab asks. */
  #answer(isFull: boolean, alive: () => void): Promise<unknown> | undefined {
    if (!this.#branchHead.pins.isCollector || this.#closed) return undefined;
    const isNeeded = isFull || this.#is(isDue);
    const running = isFull ? undefined : this.#running;
    const collecting = running ?? (isNeeded ? this.collect(isFull) : Promise.resolve(true));
    this.#alive.add(alive);
    return collecting.finally(() => this.#alive.delete(alive));
  }

  /** Resolves when room was freed, a collection has ended, or the store or the role has changed. */
  #event(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** For a writer: `undefined` when there is room. */
  #waitForRoom(isBulk: boolean): Promise<void> | undefined {
    if (this.#closed || !this.#is(mustWait)) return undefined;
    if (!this.#branchHead.pins.isCollector) this.#ask();
    else {
      this.#start(0);
      if (this.#graceMs === 0) return this.#whileCollecting();
    }
    return pause(isBulk ? LOAD_WAIT_MS : COMMIT_WAIT_MS);
  }

  /** Resolves when there is room, at the latest when the collection under way has ended. */
  async #whileCollecting(): Promise<void> {
    const running = this.#running;
    while (running !== undefined && this.#running === running && this.#is(mustWait)) {
      await this.#event();
    }
  }

  /** Stops; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#current !== undefined) this.#current.isOver = true;
    clearTimeout(this.#timer);
    this.#wake();
    await this.#running?.catch(() => {});
  }
}
