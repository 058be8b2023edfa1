import { HedgerowError } from '../../base/errors.js';
import { FORMAT, MAX_FORMAT } from '../../base/limits.js';
import { turn } from '../../base/slice-queue.js';
import * as segments from '../../core/calls/segment-calls.js';
import type { Host } from '../../core/operation-host.js';
import { PendingTables } from '../../core/pending-segment-tables.js';
import type { Ref, StoreContents, TableRecord } from '../../storage/segment-store.js';

/** The commit of a store that has no rows yet. Do not write to it. */
export const EMPTY_COMMIT = new Uint8Array(32);

/** The ref of the main branch, and the prefix of the refs of other branches. */
export const REF = 'main';
export const BRANCH_REF = 'branch/';
/**
 * The prefix of refs that name the last common ancestor of two branches: `fork/<one>/<parent>`,
 * with both names percent-encoded.
 */
export const FORK_REF = 'fork/';
/** A ref that names no commit: its 32 bytes are the progress of an import. */
export const IMPORT_REF = 'import';
/** A ref that names no commit: see `garbage-collection-fence.ts`. */
export const FENCE_REF = 'collected';

/** From `LEAST_SHELVED` tables on, only the newest `MOST_AT_ONCE` enter the core before the first read. */
const LEAST_SHELVED = 48;
const MOST_AT_ONCE = 16;

/** Adds tables of stored segments to loaded ones. */
function joinTables(loaded: StoreContents, others: readonly TableRecord[]): StoreContents {
  if (others.length === 0) return loaded;
  const stored = new Set(loaded.ids);
  const tables = [...loaded.tables, ...others.filter(({ id }) => stored.has(id))];
  return { ...loaded, tables: tables.sort((a, b) => a.id - b.id) };
}

/** The segments and refs of a store, as far as this handle knows them. */
export class Inventory {
  readonly #hostNow: () => Host;
  readonly #known = new Set<number>();
  /** Known segments that were made here and may not be stored yet. */
  readonly #unstored = new Set<number>();
  /** Segments that are deleted here: a load that read them earlier does not bring them back. */
  readonly dropped = new Set<number>();
  /** All refs, as they were last read. */
  #refs: ReadonlyMap<string, Ref> = new Map();

  /** Tables that the next look need not read. */
  #handed: readonly TableRecord[] = [];
  /** The contents that the first look finds. */
  #first: Promise<StoreContents> | undefined;

  /** `hostNow` returns the host that gets the tables. */
  constructor(hostNow: () => Host) {
    this.#hostNow = hostNow;
  }

  get #host(): Host {
    return this.#hostNow();
  }

  /** Gives the first look a running load: all of a store that was opened before its core had started. */
  begin(loading: Promise<StoreContents>): void {
    this.#first = loading;
  }

  /** All known segments. */
  get known(): ReadonlySet<number> {
    return this.#known;
  }

  /** Returns a copy of the known segments that storage is known to have. */
  knownToBeStored(): Set<number> {
    return new Set([...this.#known].filter((id) => !this.#unstored.has(id)));
  }

  /** All refs, as they were last read. */
  get refs(): ReadonlyMap<string, Ref> {
    return this.#refs;
  }

  /** The refs that name commits. */
  get commitRefs(): Ref[] {
    const namesCommit = ({ name }: Ref) =>
      name === REF || name.startsWith(BRANCH_REF) || name.startsWith(FORK_REF);
    return [...this.#refs.values()].filter(namesCommit);
  }

  /**
   * Makes all stored segments known. Forgets the segments that another handle has deleted, maybe after it moved their
   * chunks.
   */
  async load(): Promise<void> {
    await this.#host.complete();
    const before = this.knownToBeStored();
    const loaded = await this.#host.segments.load(this.#known);
    await this.#take(loaded);
    const stored = new Set(loaded.ids);
    for (const id of before) {
      if (stored.has(id)) continue;
      this.#known.delete(id);
      segments.removeSegment(this.#host.engine, id);
    }
    // Storage may have stored a segment though the answer to its write was lost.
    for (const id of this.#unstored) if (stored.has(id)) this.markStored(id);
  }

  /**
   * Makes the segments known that were stored since the last call, or all at the first call; returns all refs. It reads
   * only the moves since the last call: otherwise each commit would cost more than the one before. It reads the moves
   * of all refs, since a commit may use segments that the move of any ref carried.
   */
  async look(): Promise<ReadonlyMap<string, Ref>> {
    const { segments } = this.#host;
    const since = [...this.#refs.values()];
    const isFirst = since.length === 0;
    const begun = this.#first;
    this.#first = undefined;
    const handed = this.#handed;
    const known = isFirst ? new Set(handed.map(({ id }) => id)) : this.#known;
    const loaded = joinTables(
      await (begun ?? segments.load(known, isFirst ? undefined : since)),
      handed,
    );
    this.#handed = [];
    // The nodes that the first reads need are next to the newest commit: they load while the core takes the tables.
    const newest = begun && loaded.tables[loaded.tables.length - 1];
    if (newest && newest.segmentBytes === undefined) this.#host.prefetch([newest.id]);
    const found = new Set(loaded.refs.map(({ name }) => name));
    // A missing ref was deleted, or deleted and created again: then read all refs.
    const isWhole = since.every(({ name }) => found.has(name));
    return this.#take(isWhole ? loaded : await segments.load(this.#known));
  }

  /** Takes loaded contents in slices: a large store has thousands of tables. */
  async #take({ refs, tables }: StoreContents): Promise<ReadonlyMap<string, Ref>> {
    const host = this.#host;
    const { engine, sliceMs } = host;
    for (const { name, format } of refs) {
      if (name !== FENCE_REF && format > FORMAT) {
        throw format > MAX_FORMAT
          ? new HedgerowError('wrong-key', 'encrypted: open needs `encryption`')
          : new HedgerowError('newer-version/format', 'written by a newer version: update the app');
      }
    }
    const taken = new Map(refs.map((ref) => [ref.name, ref]));
    const isLarge = this.#known.size === 0 && tables.length >= LEAST_SHELVED;
    const older = isLarge ? tables.slice(0, -MOST_AT_ONCE) : [];
    const later = new Set(
      older.filter(({ id, segmentBytes }) => segmentBytes === undefined && !this.dropped.has(id)),
    );
    const now = tables.filter((table) => !later.has(table));
    for (const { id } of later) this.#known.add(id);
    segments.reserve(engine, now);
    let startMs = performance.now();
    for (const { id, tableBytes, segmentBytes } of now) {
      if (performance.now() - startMs > sliceMs / 2) {
        await turn();
        startMs = performance.now();
      }
      if (this.dropped.has(id)) continue;
      this.#known.add(id);
      // A damaged table hides its chunks, which are then missing; all others stay readable.
      const isKnown = segments.addTable(engine, id, tableBytes);
      if (isKnown && segmentBytes !== undefined) segments.loadSegment(engine, id, segmentBytes);
    }
    if (later.size > 0) {
      host.pendingTables = new PendingTables(engine, [...later].reverse(), () => {
        host.pendingTables = undefined;
      });
    }
    this.#refs = taken;
    return taken;
  }

  /** Records moves of refs that were made here. */
  noteMoves(refs: readonly Ref[]): void {
    this.#refs = new Map([...this.#refs, ...refs.map((ref) => [ref.name, ref] as const)]);
  }

  /** Records a segment that was made here. */
  recordSegment(id: number): void {
    this.#known.add(id);
    this.#unstored.add(id);
  }

  /** Records that storage has a segment that was made here. */
  markStored(id: number): void {
    this.#unstored.delete(id);
    segments.storedSegment(this.#host.engine, id);
  }

  /** Forgets a segment that was made here and will not be committed, or was deleted here. */
  unmade(id: number): void {
    this.#known.delete(id);
    this.#unstored.delete(id);
  }

  /** Forgets all segments and refs: a new core will take them, and `handed` of them without another read. */
  clear(handed: readonly TableRecord[] = []): void {
    this.#handed = handed;
    this.#host.pendingTables = undefined;
    this.#known.clear();
    this.#unstored.clear();
    this.#refs = new Map();
  }
}
