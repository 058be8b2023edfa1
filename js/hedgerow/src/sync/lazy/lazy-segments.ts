/**
 * The storage of a store that is only partly here. Tables list which chunks of a segment are at the remote
 * (`docs/lazy.md`): a read of one goes there, all other calls go to the storage that this wraps.
 */

import { HedgerowError } from '../../base/errors.js';
import { isFar } from '../../core/needed-segment-part.js';
import type {
  Fence,
  SegmentPart,
  SegmentRequest,
  SegmentStore,
  Since,
  Storage,
  StoreContents,
  StoreOptions,
  WriteBatch,
} from '../../storage/segment-store.js';
import { hasRemote } from './lazy-segment-table.js';

/** The function that fetches chunks at the remote; it returns a member for each, in that order. */
export type FetchChunks = (parts: readonly SegmentPart[]) => Promise<Uint8Array[]>;

/** One open store, whose chunks may be at a remote. */
export class LazySegments implements SegmentStore {
  readonly inner: SegmentStore;
  /** The tables of the segments that name chunks at the remote. */
  readonly #tables = new Map<number, Uint8Array>();
  #fetch: FetchChunks | undefined;

  constructor(inner: SegmentStore) {
    this.inner = inner;
  }

  /** Sets the function that fetches chunks from now on. */
  attach(fetch: FetchChunks | undefined): void {
    this.#fetch = fetch;
  }

  /** Returns the table of a segment, if it names chunks at the remote. */
  tableOf(id: number): Uint8Array | undefined {
    return this.#tables.get(id);
  }

  #learn(id: number, tableBytes: Uint8Array): void {
    if (hasRemote(tableBytes)) this.#tables.set(id, tableBytes);
  }

  async load(known?: ReadonlySet<number>, since?: readonly Since[]): Promise<StoreContents> {
    const loaded = await this.inner.load(known, since);
    for (const { id, tableBytes } of loaded.tables) this.#learn(id, tableBytes);
    return loaded;
  }

  reserve(freesSpace?: boolean): Promise<number> {
    return this.inner.reserve(freesSpace);
  }

  readonly read = async (
    wanted: readonly SegmentRequest[],
  ): Promise<(Uint8Array | undefined)[]> => {
    const far = wanted.filter(isFar);
    if (far.length === 0) return this.inner.read(wanted);
    const near = wanted.filter((one) => !isFar(one));
    const [here, there] = await Promise.all([
      near.length === 0 ? [] : this.inner.read(near),
      this.#fetchFar(far),
    ]);
    let [nth, farNth] = [0, 0];
    return wanted.map((one) => (isFar(one) ? there[farNth++] : here[nth++]));
  };

  async #fetchFar(parts: readonly SegmentPart[]): Promise<Uint8Array[]> {
    if (this.#fetch !== undefined) return this.#fetch(parts);
    throw new HedgerowError(
      'offline',
      'these rows are at the remote, which this handle has closed',
    );
  }

  async write(batch: WriteBatch): Promise<boolean> {
    const isWritten = await this.inner.write(batch);
    if (isWritten) for (const { id, tableBytes } of batch.segments) this.#learn(id, tableBytes);
    return isWritten;
  }

  history(name: string): ReturnType<SegmentStore['history']> {
    return this.inner.history(name);
  }

  async delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    const isDeleted = await this.inner.delete(ids, fence);
    if (isDeleted) for (const id of ids) this.#tables.delete(id);
    return isDeleted;
  }

  rest(): void {
    this.inner.rest?.();
  }

  async upkeep(storedBytes: number, isAtRest: boolean): Promise<void> {
    await this.inner.upkeep?.(storedBytes, isAtRest);
  }

  get requestCost(): number {
    return this.inner.requestCost as number;
  }

  get honoursStrict(): boolean {
    // An adapter that does not know leaves it out.
    return this.inner.honoursStrict as boolean;
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** A storage whose stores may be partly at a remote. It opens one store. */
export class LazyStorage implements Storage {
  readonly #inner: Storage;
  /** The open store. */
  segments: LazySegments | undefined;

  constructor(inner: Storage) {
    this.#inner = inner;
  }

  get lifetime() {
    return this.#inner.lifetime as NonNullable<Storage['lifetime']>;
  }

  get isShared(): boolean {
    return this.#inner.isShared === true;
  }

  get locks() {
    return this.#inner.locks;
  }

  async isPrivate(): Promise<boolean | undefined> {
    return this.#inner.isPrivate?.();
  }

  async open(name: string, options?: StoreOptions): Promise<SegmentStore> {
    this.segments = new LazySegments(await this.#inner.open(name, options));
    return this.segments;
  }

  destroy(name: string): Promise<void> {
    return this.#inner.destroy(name);
  }
}
