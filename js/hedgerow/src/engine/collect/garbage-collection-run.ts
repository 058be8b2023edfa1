/**
 * One collection, in slices: it finds the chunks that must stay, copies the live chunks of mostly dead segments into
 * new segments, and deletes the old segments.
 */

import * as CollectFlag from '../../base/abi/collect-flag.js';
import { HedgerowError, isFull } from '../../base/errors.js';
import { MIN_HISTORY } from '../../base/limits.js';
import { turn } from '../../base/slice-queue.js';
import * as calls from '../../core/calls/garbage-collection-calls.js';
import { storedBytes, takeSegment } from '../../core/calls/segment-calls.js';
import { stepToEnd } from '../../core/count-reachable-bytes.js';
import type { Op } from '../../core/engine.js';
import { endSlice, type SliceStats } from '../../core/operation-host.js';
import type { Ref, RefMove } from '../../storage/segment-store.js';
import { inUse } from '../../storage/tabs/commits-in-use.js';
import { type Facts, factsOf, fenceMove, raiseFence } from '../history/garbage-collection-fence.js';
import { FENCE_REF, IMPORT_REF, type Inventory, REF } from '../history/known-segments-and-refs.js';
import { idsOf } from '../history/segment-ids.js';
import type { SharedStore } from '../history/state-shared-by-branches.js';

/** The result of `db.health.compact()`. */
export interface CompactResult {
  /** Bytes of stored segments before and after the collection. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** The number of deleted segments, and of segments written in their place. */
  readonly segmentsDeleted: number;
  readonly segmentsWritten: number;
  readonly ms: number;
  readonly slices: number;
  readonly longestSliceMs: number;
}

/** The most segments that one transaction, in one slice, deletes. */
const DELETED_AT_ONCE = 64;

/**
 * Returns the number of the writer of an unfinished import, which may be continued while the store is empty: see
 * `transfer/import.ts`.
 */
function importersOf({ refs }: Inventory): number[] {
  const ref = refs.get(IMPORT_REF);
  if (ref === undefined || refs.get(REF)?.commitBytes.some(Boolean)) return [];
  const { buffer, byteOffset, length } = ref.commitBytes;
  return [new DataView(buffer, byteOffset, length).getFloat64(0, true)];
}

/** One collection, run by the collector of a store. */
export class Collection {
  readonly #shared: SharedStore;
  readonly #rows: number;
  readonly #times: SliceStats;
  readonly #startMs = performance.now();
  readonly #onFreed: () => void;
  #fence: RefMove | undefined;
  /** The reason why no ids could be reserved for new segments. */
  #noIds: unknown;
  #isSparing = false;
  #deleted = 0;
  #written = 0;
  /** Bytes stored at the start, without changes in progress, minus the freed bytes. */
  floor = 0;
  /** Bytes that the core counts as freed while storage still deletes them. */
  deletingBytes = 0;
  /** Storage had no space for copies; only segments without live chunks were deleted. */
  wasFull = false;
  /** Set this to end the collection early. */
  isOver = false;

  /** `rows` is the row count of the head. `onSlice` is called after each slice, `onFreed` after deletions. */
  constructor(shared: SharedStore, rows: number, on: { onFreed(): void; onSlice(): void }) {
    this.#shared = shared;
    this.#rows = rows;
    this.#onFreed = on.onFreed;
    this.#times = { slices: 0, longestSliceMs: 0, onSlice: on.onSlice };
  }

  /** Runs the collection; reads and updates `last`, the state that the collection before has left. */
  async run(flags: number, valuesBefore: number, last: LastTime): Promise<CompactResult> {
    const { host, inventory } = this.#shared;
    const { engine } = host;
    await host.complete();
    const facts = factsOf(inventory.refs.get(FENCE_REF));
    this.#isSparing = (flags & CollectFlag.sparing) !== 0;
    // Without ids the collection cannot copy chunks. It can still delete segments without live chunks.
    await this.#shared.prepareIds(true).catch((cause: unknown) => {
      if (!isFull(cause)) throw cause;
      this.#noIds = cause;
    });
    const op = await this.#begin(flags, valuesBefore, last);
    const bytesBefore = storedBytes(engine);
    this.floor = bytesBefore - this.#shared.unusedBytes;
    let done = false;
    try {
      for (;;) {
        const reply = await stepToEnd(host, op, () => calls.readCollectReply(engine), this.#times);
        const { segments: dead, liveBytes: live, valueBytes: values = facts.values } = reply;
        if (dead.length === 0) last.fence = await this.#note({ live, values, rows: this.#rows });
        else await this.#exchange(op, dead);
        if (dead.length === 0 || this.isOver) break;
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
      bytesAfter: storedBytes(engine),
      segmentsDeleted: this.#deleted,
      segmentsWritten: this.#written,
      ms: performance.now() - this.#startMs,
      slices,
      longestSliceMs,
    };
  }

  /**
   * Finds the chunks that must stay, while this tab makes no commit.
   *
   * It raises the fence, which ends all other collections. Then it reads the refs and the list of segments, then the
   * locks, then the refs again. All segments stored after the first read stay. All commits that a ref pointed to
   * between the first and the last read stay, too: these include the targets of the refs at the time when the locks
   * were read. `docs/reliability.md` shows that no other chunk can be needed.
   */
  #begin(flags: number, valuesBefore: number, last: LastTime): Promise<Op> {
    const { host, inventory, pins, branchHeads } = this.#shared;
    const { engine } = host;
    return this.#shared.queueWork(async () => {
      const term = pins.role?.term;
      if (!pins.isCollector || this.isOver) {
        throw new HedgerowError('blocked', 'another handle compacts the store now: try again');
      }
      last.fence = await raiseFence(host.segments, last.fence);
      this.#fence = last.fence;
      await this.#shared.keepUp();
      const before = inventory.knownToBeStored();
      const { refs } = inventory;
      // The heads of this tab, too: a collector reads its heads without pins.
      const own = [...branchHeads].filter(({ isGone }) => !isGone).map(({ head }) => head);
      const heads = [...inventory.commitRefs, ...own];
      const { commits, writers, hasStrangers } = await inUse(pins, term);
      await inventory.load();
      const between = await this.#movedSince(refs);
      if (!hasStrangers) last.older = undefined;
      else if (last.older?.term !== term) last.older = { ids: before, term };
      const op = calls.startCollection(engine, flags, valuesBefore);
      try {
        for (const { commitBytes } of [...heads, ...between, ...inventory.commitRefs]) {
          calls.collectCommit(engine, op, commitBytes);
        }
        // A commit may be deleted already: its tab pinned it too late, and is about to find out.
        for (const commitBytes of commits) calls.collectCommit(engine, op, commitBytes, true);
        const isKept = (id: number) => !before.has(id) || last.older?.ids.has(id) === true;
        for (const [from, to] of runs([...inventory.known].filter(isKept))) {
          calls.collectKeep(engine, op, from, to);
        }
        for (const writer of [...writers, ...importersOf(inventory)]) {
          const [from, to] = idsOf(writer);
          calls.collectKeep(engine, op, from, to);
        }
        return op;
      } catch (cause) {
        engine.free(op, false);
        throw cause;
      }
    });
  }

  /** Returns the moves after `before` of each ref that has moved more than once since. */
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

  /** Stores the new segments, then deletes the old ones. */
  async #exchange(op: Op, dead: readonly number[]): Promise<void> {
    const { host, inventory } = this.#shared;
    const { engine } = host;
    const made = await this.#store(op);
    const before = storedBytes(engine);
    calls.collectExchanged(engine, op);
    const freed = before - storedBytes(engine);
    this.floor -= freed;
    for (const id of made) inventory.markStored(id);
    // If a deletion fails, the next load of the inventory finds the segment again.
    for (const id of dead) inventory.unmade(id);
    this.#written += made.length;
    // The deletion has its own transaction: Firefox may keep a part of a transaction that it aborts.
    this.deletingBytes = freed;
    await this.#delete(dead).finally(() => {
      this.deletingBytes = 0;
      this.#onFreed();
    });
    this.#deleted += dead.length;
  }

  async #delete(dead: readonly number[]): Promise<void> {
    const { segments } = this.#shared.host;
    const fence = this.#fence as RefMove;
    for (let at = 0; at < dead.length; at += DELETED_AT_ONCE) {
      const ids = dead.slice(at, at + DELETED_AT_ONCE);
      const deleting = await this.#slice(() => segments.delete(ids, fence));
      if (!(await deleting.result)) {
        throw new HedgerowError(
          'conflict',
          'a repair, an import or another tab has ended this compaction: try again',
        );
      }
    }
  }

  /** Stores the new segments, each in a slice and a transaction of its own; resolves to their ids. */
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
          this.#shared.registerSegment(segment.id);
          made.push(segment.id);
          if (this.#noIds !== undefined) throw this.#noIds;
          const freesSpace = this.#isSparing && 'later';
          // Chunks that are safe from a power cut must be safe in their new segment, too.
          const batch = { segments: [segment], durability: 'strict', freesSpace } as const;
          const write = host.segments.write(batch);
          write.catch(() => {});
          writes.push(write);
        });
      }
      await Promise.all(writes);
      return made;
    } catch (cause) {
      await Promise.all(writes.map((write) => write.catch(() => {})));
      // If storage has stored a segment in spite of the error, the next load of the inventory finds it.
      for (const id of made) inventory.unmade(id);
      throw cause;
    }
  }

  /** Runs `work` in a slice of its own. Wraps its result, so that a promise is not awaited. */
  async #slice<T>(work: () => T): Promise<{ readonly result: T }> {
    await turn();
    const startMs = performance.now();
    const result = work();
    endSlice(this.#times, startMs);
    return { result };
  }

  /** Stores the facts in the fence, where handles that open the store later also find them. */
  async #note(facts: Facts): Promise<RefMove | undefined> {
    const { host, inventory } = this.#shared;
    const { live, values, rows } = factsOf(this.#fence);
    if (live === facts.live && values === facts.values && rows === facts.rows) return this.#fence;
    const move = fenceMove(this.#fence, facts);
    // If another handle moved the fence first, its facts are good enough.
    const isNoted = await host.segments.write({
      segments: [],
      move,
      durability: 'relaxed',
      freesSpace: true,
    });
    if (!isNoted) return undefined;
    inventory.noteMoves([move]);
    return move;
  }
}

/** The state that one collection leaves for the next. */
export interface LastTime {
  /**
   * The segments that stay, since a tab that lost the role of the collector may use them; and the term for which that is
   * so. Later, other tabs may use other segments.
   */
  older?: { readonly ids: ReadonlySet<number>; readonly term: object | undefined } | undefined;
  /** The last move of the fence by this handle. */
  fence?: RefMove | undefined;
}

/** Returns the half-open ranges `from..to` that contain exactly these numbers. */
function runs(ids: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const id of [...ids].sort((a, b) => a - b)) {
    const last = found[found.length - 1];
    if (last?.[1] === id) last[1] = id + 1;
    else found.push([id, id + 1]);
  }
  return found;
}
