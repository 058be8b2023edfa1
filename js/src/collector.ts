/** Gives back the room of what no commit reaches any more, in slices, when there is time. */
import type { Commits } from './commit.js';
import type { Op } from './engine.js';
import { HedgerowError, isFull } from './errors.js';
import type { Host } from './host.js';
import type { Facts } from './inventory.js';
import { turn } from './scheduler.js';
import { CollectFlag, stepped, survey } from './survey.js';

/** What a collection came to. */
export interface CollectResult {
  /** Bytes of stored segments before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Segments deleted, and those written in their place. */
  readonly segmentsDeleted: number;
  readonly segmentsWritten: number;
  readonly ms: number;
  readonly slices: number;
  readonly longestSliceMs: number;
}

/** How often a store is looked at, in milliseconds, while there are commits. */
const LOOK_MS = 1000;
/** A collection is due when twice what is live and this much more is stored, in bytes. */
const SLACK_BYTES = 1 << 20;
/** And when so many segments are small. */
const MANY_SMALL = 256;
/** How long a collection that is due waits for the browser to be idle, in milliseconds. */
const IDLE_MS = 2000;

/** Resolves when the browser has time, where it can tell. */
function idle(): Promise<void> {
  // Safari has none.
  if (typeof requestIdleCallback === 'undefined') return turn();
  return new Promise((resolve) => requestIdleCallback(() => resolve(), { timeout: IDLE_MS }));
}

/** See the module's text. */
export class Collector {
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #onGone: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<CollectResult> | undefined;
  /** Bytes stored from which on the next collection is due, when that is known. */
  #due: number | undefined;
  /** There was no room for a change: the next collection that is due looks for dead values, too. */
  #isFull = false;
  /** There was no room for a copy: little is copied at a time. */
  #isSparing = false;
  #closed = false;

  /** `onGone` is called when segments were deleted. */
  constructor(host: Host, commits: Commits, onGone: () => void) {
    this.#host = host;
    this.#commits = commits;
    this.#onGone = onGone;
  }

  /** The store has changed: looks soon whether there is something to collect. */
  changed(): void {
    if (this.#timer !== undefined || this.#closed || !this.#commits.pins.isCollector) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Of what is wrong with the store whoever reads it will hear.
      this.#collectWhenDue().catch(() => {});
    }, LOOK_MS);
    // Node must not wait for it.
    (this.#timer as { unref?(): void }).unref?.();
  }

  /** There was no room for a change: what is dead is to go soon, dead values too. */
  full(): void {
    this.#due = 1.1 * this.#commits.inventory.facts.live;
    this.#isFull = true;
    this.changed();
  }

  /**
   * Makes a deletion. When it finds no room it is made again after what is dead has gone: first what is
   * found without reading leaves, then dead values, too.
   */
  async makingRoom<T>(change: () => Promise<T>): Promise<T> {
    for (const full of [false, true]) {
      try {
        return await change();
      } catch (cause) {
        if (!isFull(cause) || !this.#commits.pins.isCollector) throw cause;
        await this.collect(full);
      }
    }
    return change();
  }

  async #collectWhenDue(): Promise<void> {
    if (this.#isDue()) {
      await idle();
      const full = this.#isFull;
      this.#isFull = false;
      if (!this.#closed) await this.collect(full);
    }
    await this.#keepBallast();
  }

  /** Keeps room for deletions, where there is some. */
  async #keepBallast(): Promise<void> {
    const { engine, segments } = this.#host;
    if (engine.isReady) await segments.keepBallast?.(engine.cacheStats().storedBytes);
  }

  #isDue(): boolean {
    const { engine } = this.#host;
    if (this.#closed || this.#running !== undefined || !engine.isReady) return false;
    // What a load has stored so far would look like garbage. Its commit asks again.
    if (this.#commits.pins.isWriting) return false;
    const { storedBytes, smallSegments } = engine.cacheStats();
    this.#due ??= 2 * this.#commits.inventory.facts.live + SLACK_BYTES;
    return storedBytes > this.#due || smallSegments > MANY_SMALL;
  }

  /** Collects; a full collection reads all leaves where values are stored out of line. */
  collect(full: boolean): Promise<CollectResult> {
    const before = this.#running ?? Promise.resolve();
    const running = before
      .catch(() => {})
      .then(() => this.#commits.pins.whileNotCollected(() => this.#collect(full)))
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return running;
  }

  /** Bytes of what a head reaches. Reads internal nodes; leaves as `collect` does. */
  async liveBytes(commits: Commits): Promise<number> {
    const { head, release } = await commits.holdHead();
    return survey(this.#host, head.commitBytes).finally(release);
  }

  /** Stops; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running?.catch(() => {});
  }

  async #collect(full: boolean): Promise<CollectResult> {
    const startMs = performance.now();
    const times = { slices: 0, longestSliceMs: 0 };
    // Without ids nothing can be copied. What is dead goes all the same.
    const noIds = await this.#commits.prepareIds(true).catch((cause: unknown) => {
      if (isFull(cause)) return cause;
      throw cause;
    });
    const wasSparing = this.#isSparing;
    const op = await this.#begin(full);
    const { engine } = this.#host;
    const counts = { segmentsDeleted: 0, segmentsWritten: 0 };
    const bytesBefore = engine.cacheStats().storedBytes;
    let done = false;
    try {
      for (;;) {
        const reply = () => ({
          gone: engine.numbers(),
          live: engine.word(3),
          values: engine.word(5) === 1 ? engine.word(4) : this.#commits.inventory.facts.values,
        });
        const { gone, ...facts } = await stepped(this.#host, op, reply, times);
        if (gone.length === 0) {
          await this.#note(facts);
          break;
        }
        counts.segmentsWritten += await this.#exchange(op, gone, noIds);
        counts.segmentsDeleted += gone.length;
        if (this.#closed) break;
      }
      done = true;
      this.#isSparing = false;
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      // What is dead has gone. There is no room to copy the rest: less of it at a time.
      this.#isSparing = true;
    } finally {
      engine.free(op, done);
    }
    if (this.#isSparing && !wasSparing) return { ...(await this.#collect(full)), bytesBefore };
    await this.#keepBallast().catch(() => {});
    const bytesAfter = engine.cacheStats().storedBytes;
    this.#due = Math.max(2 * this.#commits.inventory.facts.live + SLACK_BYTES, 1.25 * bytesAfter);
    return { bytesBefore, bytesAfter, ...counts, ms: performance.now() - startMs, ...times };
  }

  /** Finds out what must stay, when no commit is being made here. */
  #begin(full: boolean): Promise<Op> {
    const { engine } = this.#host;
    return this.#commits.queued(async () => {
      if (!this.#commits.pins.isCollector || this.#closed) {
        throw new HedgerowError('blocked', 'another handle of the store is its collector');
      }
      const { inventory, pins, trunk } = this.#commits;
      await trunk.keepUp();
      // First what is stored, then who uses it: what comes to be stored after that stays. And then
      // what is stored still: a writer that was there may have given up and taken its segments.
      //
      // All refs are looked at both times. A commit that somebody puts a ref at is held by them
      // until after that. Were they done with it before the look at the locks, then the ref, or
      // one that moved on from there, is seen by the second look at refs. If they began to hold
      // it after the look at the locks, then it is what a ref stood at after that: it is marked,
      // if any ref stood there at the first look or the second, or it was made in between, of
      // segments that stay and of commits of which the same can be said. That nobody names or
      // holds a commit can only be changed by one who finds all of it stored, while nobody
      // collects (`holdAny`), and holds it from before.
      const before = inventory.knownToBeStored();
      // Those here too: reads of a collector's heads are held without being announced.
      const own = [...trunk.lines].filter(({ isGone }) => !isGone).map(({ head }) => head);
      const heads = [...inventory.lines, ...own];
      const { commits, writers } = await pins.inUse();
      await inventory.load();
      const flags = (full ? CollectFlag.full : 0) | (this.#isSparing ? CollectFlag.sparing : 0);
      const op = engine.collect(flags, this.#commits.inventory.facts.values);
      try {
        for (const { commitBytes } of [...heads, ...inventory.lines]) {
          engine.collectCommit(op, commitBytes);
        }
        for (const id of inventory.known) {
          if (!before.has(id)) engine.collectKeep(op, id, id + 1);
        }
        for (const commitBytes of commits) engine.collectCommit(op, commitBytes);
        for (const writer of [...writers, ...inventory.importers]) {
          const [from, to] = this.#commits.trunk.idsOf(writer);
          engine.collectKeep(op, from, to);
        }
        return op;
      } catch (cause) {
        engine.free(op, false);
        throw cause;
      }
    });
  }

  /** Stores new segments, and then deletes those that they take the place of; how many are new. */
  async #exchange(op: Op, gone: readonly number[], noIds: unknown): Promise<number> {
    const { engine, segments } = this.#host;
    const made = [];
    for (let next = engine.takeSegment(op); next; next = engine.takeSegment(op)) {
      this.#commits.trunk.made(next.id);
      made.push(next);
    }
    try {
      // What was flushed before must not be in bytes again that power can take.
      const batch = { segments: made, durability: 'strict', makesRoom: this.#isSparing } as const;
      if (made.length > 0 && noIds) throw noIds;
      if (made.length > 0) await segments.write(batch);
    } catch (cause) {
      // If it was written after all, others will tell where the chunks are.
      for (const { id } of made) this.#commits.inventory.unmade(id);
      throw cause;
    }
    engine.collectExchanged(op);
    for (const { id } of made) this.#commits.inventory.stored(id);
    for (const id of gone) this.#commits.inventory.unmade(id);
    // In a transaction of its own: Firefox may keep a part of one that it aborts. If not all of
    // them go, the next collection finds the rest.
    await segments.delete(gone).finally(this.#onGone);
    return made.length;
  }

  async #note(facts: Facts): Promise<void> {
    const before = this.#commits.inventory.facts;
    if (facts.live !== before.live || facts.values !== before.values) {
      await this.#commits.inventory.noteFacts(facts);
    }
  }
}
