import * as CollectFlag from '../../base/abi/collect-flag.js';
import { HedgerowError, isMissing, kindOfError } from '../../base/errors.js';
import { pause } from '../../base/pauses.js';
import { turn } from '../../base/slice-queue.js';
import { later } from '../../base/timeout.js';
import { cacheStats } from '../../core/calls/cache-stats.js';
import { storedBytes } from '../../core/calls/segment-calls.js';
import type { Host } from '../../core/operation-host.js';
import {
  type CollectAnswer,
  CollectRequests,
} from '../../storage/tabs/garbage-collection-requests.js';
import type { AskedMessage, TabMessages } from '../../storage/tabs/tab-messages.js';
import type { BranchHead } from '../history/branch-head.js';
import { factsOf } from '../history/garbage-collection-fence.js';
import { FENCE_REF } from '../history/known-segments-and-refs.js';
import {
  isCollectionDue,
  isDueAtRest,
  isDueWhenFull,
  isPressing,
  mustWait,
  type SpaceUsage,
} from './due-check.js';
import { Collection, type CompactResult, type LastTime } from './garbage-collection-run.js';

/** Milliseconds between checks of a store with new commits. */
const LOOK_MS = 1000;
/** Milliseconds from the last commit until writers count as at rest. */
const REST_MS = 1500;
/** The most milliseconds that a due collection waits for the browser to be idle. */
const IDLE_MS = 1000;
/** The most attempts at a collection while other handles move the segments that it reads. */
const MAX_TRIES = 8;
/** The number of checks in a row that find a collection due before a tab that is not the collector asks for one. */
const MAX_OVERDUE = 3;
/** Milliseconds that a commit, or the next segments of a load, wait for space that this tab cannot free. */
const COMMIT_WAIT_MS = 100;
const LOAD_WAIT_MS = 1000;

/** Resolves when the browser is idle, at the latest after `IDLE_MS`. */
async function idle(): Promise<void> {
  // Safari lacks this function.
  if (typeof requestIdleCallback === 'undefined') return;
  return new Promise((resolve) => requestIdleCallback(() => resolve(), { timeout: IDLE_MS }));
}

function isPassing(cause: unknown): boolean {
  return isMissing(cause) || kindOfError(cause) === 'conflict';
}

/** Runs the collections of a store: when one is due, and when a caller asks. */
export class Collector {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: TabMessages | undefined;
  readonly #others: CollectRequests | undefined;
  readonly #last: LastTime = {};
  /** Cancels the planned check. */
  #cancel: (() => void) | undefined;
  #changedMs = 0;
  #running: Promise<CompactResult> | undefined;
  #current: Collection | undefined;
  #asking: Promise<unknown> | undefined;
  #overdue = 0;
  /** Called when space was freed, a collection has ended, or the store or the role has changed. */
  #waiting: (() => void)[] = [];
  /** Called after each slice of a collection. */
  readonly #alive = new Set<() => void>();
  #floor = 0;
  #before: number | undefined;
  #smallBefore = 0;
  /** The reason why the last collection failed; `undefined` after a success. */
  failure: unknown;
  /** Storage had no space for copies: the next collection copies little at a time. */
  #isSparing = false;
  /** Storage had no space for a change. */
  #wasFull = false;
  #closed = false;

  /** `tabs` reach the other tabs that have this store open. */
  constructor(host: Host, branchHead: BranchHead, tabs: TabMessages | undefined) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#tabs = tabs;
    const answer: CollectAnswer = (isFull, alive) => this.#answer(isFull, alive);
    this.#others = tabs && new CollectRequests(tabs, answer);
    branchHead.shared.waitForSpace = (isBulk) => this.#waitForSpace(isBulk);
  }

  /** Checks soon whether a collection is due, since the store or the role of this handle has changed. */
  noteChange(): void {
    this.#wake();
    if (this.#closed || !this.#branchHead.pins.isCollected) return;
    this.#changedMs = performance.now();
    if (this.#branchHead.pins.isCollector && this.#is(isPressing)) this.#start(0);
    this.#lookLater();
  }

  /** Collects soon, even if little is dead, since storage had no space for a change. */
  full(): void {
    this.#wasFull = true;
    this.noteChange();
  }

  /** Reports whether a rule of `due-check.ts` holds now. */
  #is(rule: (usage: SpaceUsage) => boolean): boolean {
    try {
      const { engine, pendingTables } = this.#host;
      return engine.isReady && pendingTables === undefined && rule(this.#usage());
    } catch {
      // The core has trapped: the user's next call reports it.
      return false;
    }
  }

  #lookLater(): void {
    if (this.#cancel !== undefined || this.#closed) return;
    this.#cancel = later(() => {
      this.#cancel = undefined;
      this.#look();
    }, LOOK_MS);
  }

  #look(): void {
    const { pins } = this.#branchHead;
    const hasRested = performance.now() - this.#changedMs >= REST_MS;
    const isAtRest = hasRested && !pins.isWriting;
    if (pins.isCollector) {
      const rule = isAtRest ? isDueAtRest : isCollectionDue;
      if (this.#is(rule) || (this.#wasFull && this.#is(isDueWhenFull))) {
        // A full store may be full of dead values, which only a full collection finds.
        this.#start((isAtRest ? CollectFlag.rest : 0) | (this.#wasFull ? CollectFlag.full : 0));
      } else this.#upkeep(isAtRest).catch(() => {});
    } else {
      // The collector makes the same check, unless its tab is frozen.
      this.#overdue = this.#is(isCollectionDue) ? this.#overdue + 1 : 0;
      if (this.#overdue >= MAX_OVERDUE) this.#ask();
    }
    if (!isAtRest || this.#overdue > 0) this.#lookLater();
  }

  /** Lets the adapter work when there is time: it keeps space, so that deletions fit into a full storage. */
  async #upkeep(isAtRest: boolean): Promise<void> {
    const { engine, segments } = this.#host;
    await this.#host.complete();
    if (this.#closed || !engine.isReady) return;
    await segments.upkeep?.(storedBytes(engine), isAtRest);
  }

  #usage(): SpaceUsage {
    const { shared, inventory, head } = this.#branchHead;
    const { storedBytes: stored, smallSegments: small } = cacheStats(this.#host.engine);
    const { unusedBytes: unused } = shared;
    const { live, rows } = factsOf(inventory.refs.get(FENCE_REF));
    // In a store that was never surveyed, all bytes may be dead.
    this.#before ??= live > 0 ? stored : 0;
    return {
      stored: stored + (this.#current?.deletingBytes ?? 0),
      unused,
      live,
      part: rows > 0 ? Math.min(1, head.rows / rows) : 1,
      floor: this.#floor,
      before: this.#before,
      small,
      smallBefore: this.#smallBefore,
    };
  }

  /** Milliseconds until a collection may begin. */
  get #graceMs(): number {
    return this.#branchHead.pins.role?.graceMs ?? 0;
  }

  async #grace(): Promise<void> {
    if (this.#graceMs > 0) await pause(this.#graceMs);
  }

  /** Starts a collection when the browser is idle. Keeps its error in `failure`. */
  #start(flags: number): void {
    if (this.#running !== undefined || this.#closed) return;
    this.#begin(async () => {
      await this.#grace();
      await this.#idle();
      return this.#collect(flags);
    }).catch(() => {});
  }

  /** Resolves when the browser is idle, or when writers press: they may keep the browser busy. */
  async #idle(): Promise<void> {
    await turn();
    let isIdle = false;
    const resting = idle().then(() => {
      isIdle = true;
    });
    while (!isIdle && !this.#closed && !this.#is(isPressing)) {
      await Promise.race([resting, this.#event()]);
    }
  }

  /** Collects; a full collection reads all leaves of trees with values out of line. */
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
        // Other handles moved segments during the collection, or pinned a commit that was already deleted.
        if (tries < MAX_TRIES && !this.#closed && isPassing(cause)) continue;
        this.#noteFailure(cause);
        throw cause;
      }
    }
  }

  /** Makes the next collection wait until more is stored, so that it does not read the same damage again and again. */
  #noteFailure(cause: unknown): void {
    const { engine } = this.#host;
    if (!engine.isReady || kindOfError(cause) === 'blocked') return;
    this.#before = storedBytes(engine);
    this.#floor = this.#before;
  }

  /** Collects, for a deletion that found no space. */
  async freeSpace(isFull: boolean): Promise<void> {
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
      // At rest there is time to find the live values, so fewer new values are enough.
      const valuesBefore = flags === CollectFlag.rest ? values / 2 : values;
      const wasSparing = this.#isSparing;
      const sparing = wasSparing ? CollectFlag.sparing : 0;
      const result = await collection.run(flags | sparing, valuesBefore, this.#last);
      this.#isSparing = collection.wasFull;
      this.#wasFull = false;
      if (collection.wasFull && !wasSparing && !this.#closed) {
        return { ...(await this.#collectOnce(flags)), bytesBefore: result.bytesBefore };
      }
      await this.#upkeep((flags & CollectFlag.rest) !== 0).catch(() => {});
      this.#smallBefore = cacheStats(this.#host.engine).smallSegments;
      this.#floor = collection.floor;
      // The floor leaves out bytes stored during the collection, which it has not surveyed.
      this.#before = collection.floor;
      return result;
    } finally {
      this.#current = undefined;
    }
  }

  /** Collects, or asks the collector's tab to; takes the role when that tab does not answer. */
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

  /** Asks the collector's tab for a collection; takes the role when that tab does not answer. */
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

  /** Handles a message between tabs about a collection. */
  hear(message: AskedMessage): void {
    this.#others?.hear(message);
  }

  /** Answers another tab that asks for a collection; `undefined` if this handle is not the collector. */
  #answer(isFull: boolean, alive: () => void): Promise<unknown> | undefined {
    if (!this.#branchHead.pins.isCollector || this.#closed) return undefined;
    const isNeeded = isFull || this.#is(isCollectionDue);
    const running = isFull ? undefined : this.#running;
    const collecting = running ?? (isNeeded ? this.collect(isFull) : Promise.resolve(true));
    this.#alive.add(alive);
    return collecting.finally(() => this.#alive.delete(alive));
  }

  /** Resolves when space was freed, a collection has ended, or the store or the role has changed. */
  #event(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Makes a writer wait for space; `undefined` when it need not wait. */
  #waitForSpace(isBulk: boolean): Promise<void> | undefined {
    if (this.#closed || !this.#is(mustWait)) return undefined;
    if (!this.#branchHead.pins.isCollector) this.#ask();
    else {
      this.#start(0);
      if (this.#graceMs === 0) return this.#whileCollecting();
    }
    return pause(isBulk ? LOAD_WAIT_MS : COMMIT_WAIT_MS);
  }

  /** Resolves when writers need not wait, at the latest when the running collection has ended. */
  async #whileCollecting(): Promise<void> {
    const running = this.#running;
    while (running !== undefined && this.#running === running && this.#is(mustWait)) {
      await this.#event();
    }
  }

  /** Stops; resolves when no collection runs. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#current !== undefined) this.#current.isOver = true;
    this.#cancel?.();
    this.#wake();
    await this.#running?.catch(() => {});
  }
}
