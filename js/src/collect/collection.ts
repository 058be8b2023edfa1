/**
 * One collection: finds out what must stay, moves what is live of mostly dead segments into new ones,
 * and deletes the old, in slices.
 */

import * as CollectFlag from '../base/abi/collect-flag.js';
import { HedgerowError, isFull } from '../base/errors.js';
import { MIN_HISTORY } from '../base/limits.js';
import { turn } from '../base/scheduler.js';
import * as calls from '../core/calls/collect.js';
import { cacheStats, takeSegment } from '../core/calls/segments.js';
import type { Op } from '../core/engine.js';
import { endSlice, type Slices } from '../core/host.js';
import { stepped } from '../core/survey.js';
import { type Facts, factsOf, fenceMove, raiseFence } from '../history/fence.js';
import { FENCE_REF } from '../history/inventory.js';
import type { SharedStore } from '../history/shared-store.js';
import type { Ref, RefMove } from '../storage/segment-store.js';
import { inUse } from '../tabs/in-use.js';

/** What `db.compact()` did. */
export interface CompactResult {
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

/** So many segments at most are deleted in one transaction, and in one slice. */
const DELETED_AT_ONCE = 64;

/** Gives back room, as the collector of a store. */
export class Collection {
  readonly #shared: SharedStore;
  readonly #rows: number;
  readonly #times: Slices;
  readonly #startMs = performance.now();
  readonly #onFreed: () => void;
  #fence: RefMove | undefined;
  /** Why there are no ids for new segments. */
  #noIds: unknown;
  #makesRoom = false;
  #deleted = 0;
  #written = 0;
  /** Bytes that were stored and in use by nobody's change at its start, without what it has freed. */
  floor = 0;
  /** There was no room for a copy: what was dead as a whole has gone. */
  wasFull = false;
  /** Set to end it early. */
  isOver = false;

  /** Of a store with so many rows. `onSlice` is called after each slice, `onFreed` when room was freed. */
  constructor(shared: SharedStore, rows: number, on: { onFreed(): void; onSlice(): void }) {
    this.#shared = shared;
    this.#rows = rows;
    this.#onFreed = on.onFreed;
    this.#times = { slices: 0, longestSliceMs: 0, onSlice: on.onSlice };
  }

  /** Runs it; `last` is what the one before it has left for it. */
  async run(flags: number, valuesBefore: number, last: LastTime): Promise<CompactResult> {
    const { host, inventory } = this.#shared;
    const { engine } = host;
    const facts = factsOf(inventory.refs.get(FENCE_REF));
    this.#makesRoom = (flags & CollectFlag.sparing) !== 0;
    // Without ids nothing can be copied. What is dead goes all the same.
    await this.#shared.prepareIds(true).catch((cause: unknown) => {
      if (!isFull(cause)) throw cause;
      this.#noIds = cause;
    });
    const op = await this.#begin(flags, valuesBefore, last);
    const { storedBytes: bytesBefore } = cacheStats(engine);
    this.floor = bytesBefore - this.#shared.unusedBytes;
    let done = false;
    try {
      for (;;) {
        const reply = await stepped(host, op, () => calls.collected(engine), this.#times);
        const { segments: gone, liveBytes: live, valueBytes: values = facts.values } = reply;
        if (gone.length === 0) last.fence = await this.#note({ live, values, rows: this.#rows });
        else await this.#exchange(op, gone);
        if (gone.length === 0 || this.isOver) break;
      }
      done = true;
    } catch (cause) {
      if (!isFull(cause)) throw cause;
      this.wasFull = true;
    } finally {
      engine.free(op, done);
    }
    const { slices, longestSliceMs } = this.#times;
    return {
      bytesBefore,
      bytesAfter: cacheStats(engine).storedBytes,
      segmentsDeleted: this.#deleted,
      segmentsWritten: this.#written,
      ms: performance.now() - this.#startMs,
      slices,
      longestSliceMs,
    };
  }

  /**
   * Finds out what must stay, when no commit is being made here.
   *
   * First the fence is raised, so that no other collection is at work from then on. Then comes a look
   * at refs and at what is stored, one at the locks, and one more at refs. What is stored after the
   * first look stays. All commits stay that a ref stood at between the first look and the last, and so
   * all that were a ref's when it was looked at the locks. `docs/reliability.md` shows that nobody can
   * need anything else.
   */
  #begin(flags: number, valuesBefore: number, last: LastTime): Promise<Op> {
    const { host, inventory, pins, branchHeads } = this.#shared;
    const { engine } = host;
    return this.#shared.queued(async () => {
      if (!pins.isCollector || this.isOver) {
        throw new HedgerowError('blocked', 'another handle compacts the store now: try again');
      }
      last.fence = await raiseFence(host.segments, last.fence);
      this.#fence = last.fence;
      await this.#shared.keepUp();
      const before = inventory.knownToBeStored();
      const { refs } = inventory;
      // Those here too: reads of a collector's heads are held without being announced.
      const own = [...branchHeads].filter(({ isGone }) => !isGone).map(({ head }) => head);
      const heads = [...inventory.commitRefs, ...own];
      const { commits, writers, hasStrangers } = await inUse(pins);
      await inventory.load();
      const between = await this.#movedSince(refs);
      if (!hasStrangers) last.older = undefined;
      else last.older ??= before;
      const op = calls.collect(engine, flags, valuesBefore);
      try {
        for (const { commitBytes } of [...heads, ...between, ...inventory.commitRefs]) {
          calls.collectCommit(engine, op, commitBytes);
        }
        // Who has just pinned one may be about to find out that it is gone.
        for (const commitBytes of commits) calls.collectCommit(engine, op, commitBytes, true);
        const isKept = (id: number) => !before.has(id) || last.older?.has(id) === true;
        for (const [from, to] of runs([...inventory.known].filter(isKept))) {
          calls.collectKeep(engine, op, from, to);
        }
        for (const writer of [...writers, ...inventory.importers]) {
          const [from, to] = this.#shared.idsOf(writer);
          calls.collectKeep(engine, op, from, to);
        }
        return op;
      } catch (cause) {
        engine.free(op, false);
        throw cause;
      }
    });
  }

  /** Where refs stood between two looks, if that was neither where they stood at the first nor at the last. */
  async #movedSince(before: ReadonlyMap<string, Ref>): Promise<Ref[]> {
    const { host, inventory } = this.#shared;
    const found: Ref[] = [];
    for (const { name, generation } of inventory.commitRefs) {
      const from = before.get(name)?.generation ?? 0;
      if (generation <= from + 1) continue;
      const moves = await host.segments.history(name);
      if (moves.length >= MIN_HISTORY && !moves.some((move) => move.generation <= from)) {
        throw new HedgerowError(
          'conflict',
          'others wrote faster than the compaction could read: try again when they rest',
        );
      }
      found.push(...moves.filter((move) => move.generation > from));
    }
    return found;
  }

  /** Has new segments stored, and then the old ones deleted. */
  async #exchange(op: Op, gone: readonly number[]): Promise<void> {
    const { host, inventory } = this.#shared;
    const { engine } = host;
    const made = await this.#store(op);
    const before = cacheStats(engine).storedBytes;
    calls.collectExchanged(engine, op);
    this.floor -= before - cacheStats(engine).storedBytes;
    for (const id of made) inventory.stored(id);
    // If one is not deleted after all, it is found again.
    for (const id of gone) inventory.unmade(id);
    this.#written += made.length;
    // Apart from what was stored: Firefox may keep a part of a transaction that it aborts.
    await this.#delete(gone).finally(this.#onFreed);
    this.#deleted += gone.length;
  }

  async #delete(gone: readonly number[]): Promise<void> {
    const { segments } = this.#shared.host;
    const fence = this.#fence as RefMove;
    for (let at = 0; at < gone.length; at += DELETED_AT_ONCE) {
      const ids = gone.slice(at, at + DELETED_AT_ONCE);
      const deleting = await this.#slice(() => segments.delete(ids, fence));
      if (!(await deleting.result)) {
        throw new HedgerowError(
          'conflict',
          'a repair, an import or another tab has ended this compaction: try again',
        );
      }
    }
  }

  /** Stores the segments that were made, each in a slice and a transaction of its own; their ids. */
  async #store(op: Op): Promise<number[]> {
    const { host, inventory } = this.#shared;
    const made: number[] = [];
    const writes: Promise<unknown>[] = [];
    try {
      for (let isLast = false; !isLast; ) {
        await this.#slice(() => {
          const segment = takeSegment(host.engine, op);
          if (segment === undefined) {
            isLast = true;
            return;
          }
          this.#shared.made(segment.id);
          made.push(segment.id);
          if (this.#noIds !== undefined) throw this.#noIds;
          const makesRoom = this.#makesRoom;
          // What was flushed before must not be in bytes again that power can take.
          const batch = { segments: [segment], durability: 'strict', makesRoom } as const;
          const write = host.segments.write(batch);
          write.catch(() => {});
          writes.push(write);
        });
      }
      await Promise.all(writes);
      return made;
    } catch (cause) {
      await Promise.all(writes.map((write) => write.catch(() => {})));
      // If one was written after all, others will tell where its chunks are.
      for (const id of made) inventory.unmade(id);
      throw cause;
    }
  }

  /** Runs `work` in a slice of its own. Its result is wrapped, so that a promise is not waited for. */
  async #slice<T>(work: () => T): Promise<{ readonly result: T }> {
    await turn();
    const startMs = performance.now();
    const result = work();
    endSlice(this.#times, startMs);
    return { result };
  }

  /** Keeps what was found, for those too who open the store later. */
  async #note(facts: Facts): Promise<RefMove | undefined> {
    const { host, inventory } = this.#shared;
    const { live, values, rows } = factsOf(this.#fence);
    if (live === facts.live && values === facts.values && rows === facts.rows) return this.#fence;
    const move = fenceMove(this.#fence, facts);
    // Where another handle was first, what it noted will do.
    const isNoted = await host.segments.write({
      segments: [],
      move,
      durability: 'relaxed',
      makesRoom: true,
    });
    if (!isNoted) return undefined;
    inventory.moved([move]);
    return move;
  }
}

/** What one collection leaves for the next. */
export interface LastTime {
  /** Segments that stay, since a tab that lost the role of the collector may use them. */
  older?: ReadonlySet<number> | undefined;
  /** Where it has left the fence. */
  fence?: RefMove | undefined;
}

/** The ranges `from..to` that hold these numbers and no others. */
function runs(ids: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const id of [...ids].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === id) last[1] = id + 1;
    else found.push([id, id + 1]);
  }
  return found;
}
