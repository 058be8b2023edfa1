import { HedgerowError } from '../base/errors.js';
import { FORMAT } from '../base/limits.js';
import * as segments from '../core/calls/segments.js';
import type { Host } from '../core/host.js';
import type { Loaded, Ref } from '../storage/segment-store.js';

/** The commit of a store that has no rows yet. Do not write to it. */
export const EMPTY_COMMIT = new Uint8Array(32);

/** The ref that a store has for its rows, and what the names of those of its branches begin with. */
export const REF = 'main';
export const BRANCH_REF = 'branch/';
/**
 * What the names of refs begin with that tell the last common ancestor of two branches:
 * `fork/<one>/<parent>`, with both names encoded.
 */
export const FORK_REF = 'fork/';
/** A ref that points at nothing: its 32 bytes tell how far an import has come. */
export const IMPORT_REF = 'import';
/** A ref that points at nothing: see `fence.ts`. */
export const FENCE_REF = 'collected';

function viewOf({ commitBytes: { buffer, byteOffset, length } }: Ref): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** What is stored of a store, as far as is known here, and how that is found out. */
export class Inventory {
  readonly #host: Host;
  readonly #known = new Set<number>();
  /** Of the known segments those made here that storage may not have yet. */
  readonly #unstored = new Set<number>();
  /** All refs, where they were last seen. */
  #refs: ReadonlyMap<string, Ref> = new Map();

  constructor(host: Host) {
    this.#host = host;
    host.onGone = () => this.load();
  }

  /** All segments that are known. */
  get known(): ReadonlySet<number> {
    return this.#known;
  }

  /** A copy: the known segments that storage is known to have. */
  knownToBeStored(): Set<number> {
    return new Set([...this.#known].filter((id) => !this.#unstored.has(id)));
  }

  /** All refs, where they were last seen. */
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
   * The writer whose segments an import has stored, which may be gone on with for as long as there
   * is nothing else: see `transfer/import.ts`.
   */
  get importers(): number[] {
    const ref = this.#refs.get(IMPORT_REF);
    if (ref === undefined || this.#refs.get(REF)?.commitBytes.some(Boolean)) return [];
    return [viewOf(ref).getFloat64(0, true)];
  }

  /**
   * Makes all stored segments known, and forgets those that are stored no more: another handle
   * has deleted them, and maybe moved what was in them.
   */
  async load(): Promise<void> {
    const before = this.knownToBeStored();
    const loaded = await this.#host.segments.load(this.#known);
    this.#take(loaded);
    const stored = new Set(loaded.ids);
    for (const id of before) {
      if (stored.has(id)) continue;
      this.#known.delete(id);
      segments.removeSegment(this.#host.engine, id);
    }
    // Some may be there though the answer to their write was lost.
    for (const id of this.#unstored) if (stored.has(id)) this.stored(id);
  }

  /**
   * Makes segments known that came since the last look, or all when there was none, and tells
   * where all refs stand. Not from the moves before: else each commit would cost more than the
   * last. A commit may rest on what moves of any ref carry, so that all of them are looked at.
   */
  async look(): Promise<ReadonlyMap<string, Ref>> {
    const { segments } = this.#host;
    const since = [...this.#refs.values()];
    const isFirst = since.length === 0;
    const loaded = await segments.load(this.#known, isFirst ? undefined : since);
    const found = new Set(loaded.refs.map(({ name }) => name));
    // One that is not there was deleted, or made anew.
    const isWhole = since.every(({ name }) => found.has(name));
    return this.#take(isWhole ? loaded : await segments.load(this.#known));
  }

  #take({ refs, tables }: Loaded): ReadonlyMap<string, Ref> {
    const { engine } = this.#host;
    for (const { name, format } of refs) {
      if (name !== FENCE_REF && format > FORMAT) {
        throw new HedgerowError('unsupported-format', 'written by a newer version: update the app');
      }
    }
    const taken = new Map(refs.map((ref) => [ref.name, ref]));
    segments.reserve(
      engine,
      tables.reduce((sum, { tableBytes }) => sum + tableBytes.length, 0),
    );
    for (const { id, tableBytes, segmentBytes } of tables) {
      this.#known.add(id);
      // A damaged table hides its chunks, which are then missing; the rest stays readable.
      const isKnown = segments.addTable(engine, id, tableBytes);
      if (isKnown && segmentBytes !== undefined) segments.loadSegment(engine, id, segmentBytes);
    }
    this.#refs = taken;
    return taken;
  }

  /** Notes that refs were moved here. */
  moved(refs: readonly Ref[]): void {
    this.#refs = new Map([...this.#refs, ...refs.map((ref) => [ref.name, ref] as const)]);
  }

  /** Notes that a segment was made here. */
  made(id: number): void {
    this.#known.add(id);
    this.#unstored.add(id);
  }

  /** Notes that a segment that was made here is stored. */
  stored(id: number): void {
    this.#unstored.delete(id);
    segments.storedSegment(this.#host.engine, id);
  }

  /** Forgets a segment that was made here and will not be committed, or was deleted here. */
  unmade(id: number): void {
    this.#known.delete(id);
    this.#unstored.delete(id);
  }

  /** Nothing is known any more. */
  clear(): void {
    this.#known.clear();
    this.#unstored.clear();
    this.#refs = new Map();
  }
}
