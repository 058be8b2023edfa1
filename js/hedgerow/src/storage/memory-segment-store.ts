/** The handles of stores in memory, loaded at the first opening of a store. */

import { sameBytes } from '../base/bytes.js';
import { HedgerowError } from '../base/errors.js';
import { MAX_HISTORY } from '../base/limits.js';
import {
  cutSegment,
  type Fence,
  type Ref,
  type SegmentRequest,
  type SegmentStore,
  type StoreContents,
  type StoreOptions,
  segmentOf,
  type WriteBatch,
} from './segment-store.js';

interface StoredSegment {
  readonly segmentBytes: Uint8Array;
  readonly tableBytes: Uint8Array;
}

/** The data that all handles of one store share. */
export class World {
  readonly segments = new Map<number, StoredSegment>();
  readonly refs = new Map<string, Ref>();
  /** The moves of each ref, newest first. */
  readonly history = new Map<string, Ref[]>();
  readonly handles = new Set<MemorySegmentStore>();
  lastReserved = 0;
  destroyed = false;
}

/** Opens a store of `worlds`: see `memory()`. */
export function openWorld(
  worlds: Map<string, World>,
  name: string,
  { mustExist = false, onGone = () => {}, onMoved = () => {} }: StoreOptions = {},
): MemorySegmentStore {
  let world = worlds.get(name);
  if (world === undefined) {
    if (mustExist) throw new HedgerowError('not-found/store', `there is no store ${name}`);
    world = new World();
    worlds.set(name, world);
  }
  return new MemorySegmentStore(world, onGone, onMoved);
}

// The methods are `async` so that a failure is always a rejection. They await nothing, so that each is atomic.
export class MemorySegmentStore implements SegmentStore {
  /** A part costs a copy, as the whole does. */
  readonly requestCost = 0;
  readonly #world: World;
  readonly onGone: () => void;
  readonly #onMoved: () => void;
  #closed = false;

  constructor(world: World, onGone: () => void, onMoved: () => void) {
    this.#world = world;
    this.onGone = onGone;
    this.#onMoved = onMoved;
    world.handles.add(this);
  }

  async load(known?: ReadonlySet<number>): Promise<StoreContents> {
    const { refs, segments } = this.#open();
    const ids = [...segments.keys()].sort((a, b) => a - b);
    const tables = [...segments]
      .filter(([id]) => !known?.has(id))
      .sort(([a], [b]) => a - b)
      .map(([id, { tableBytes }]) => ({ id, tableBytes: copyOf(tableBytes) }));
    return { refs: [...refs.values()].map(copyOfRef), tables, ids };
  }

  async reserve(): Promise<number> {
    return ++this.#open().lastReserved;
  }

  async read(wanted: readonly SegmentRequest[]): Promise<(Uint8Array | undefined)[]> {
    const { segments } = this.#open();
    return wanted.map((one) => {
      const stored = segments.get(segmentOf(one));
      return stored && copyOf(cutSegment(one, stored.segmentBytes));
    });
  }

  async write({ segments, move, also = [] }: WriteBatch): Promise<boolean> {
    const world = this.#open();
    const changes = move === undefined ? also : [move, ...also];
    const stands = ({ name, expected }: { readonly name: string; readonly expected: number }) =>
      (world.refs.get(name)?.generation ?? 0) === expected;
    if (!changes.every(stands)) return false;
    for (const change of changes) {
      const { name } = change;
      if ('isDropped' in change) {
        world.refs.delete(name);
        world.history.delete(name);
        continue;
      }
      const ref = copyOfRef(change);
      world.refs.set(name, ref);
      const before = world.history.get(name) ?? [];
      world.history.set(name, [ref, ...before].slice(0, MAX_HISTORY));
    }
    for (const { id, segmentBytes, tableBytes } of segments) {
      world.segments.set(id, { segmentBytes, tableBytes });
    }
    if (changes.length > 0) {
      // Not in this call, which another handle makes.
      for (const other of world.handles) if (other !== this) queueMicrotask(other.#onMoved);
    }
    return true;
  }

  async history(name: string): Promise<Ref[]> {
    return (this.#open().history.get(name) ?? []).map(copyOfRef);
  }

  async delete(ids: readonly number[], fence?: Fence): Promise<boolean> {
    const { segments, refs } = this.#open();
    if (fence && !sameBytes(refs.get(fence.name)?.commitBytes, fence.commitBytes)) return false;
    for (const id of ids) segments.delete(id);
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#world.handles.delete(this);
  }

  #open(): World {
    if (this.#closed) throw new HedgerowError('closed', 'the store was closed');
    if (this.#world.destroyed) throw new HedgerowError('closed', 'the store was deleted');
    return this.#world;
  }
}

/** Copies bytes, without `slice`, which does not copy a Node `Buffer`. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function copyOfRef({ name, commitBytes, generation, format }: Ref): Ref {
  return { name, commitBytes: copyOf(commitBytes), generation, format };
}
