/**
 * Fetches nodes that are at the remote. For a leaf it fetches its rows: the frames that have them, from each
 * layer. It makes all leaves of these frames at once, as far as their parents are known, and stores them.
 */

import { HedgerowError } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';
import { type LazyCloneCalls, lazyCloneCalls } from '../../core/calls/lazy-clone-calls.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { SegmentPart } from '../../storage/segment-store.js';
import type { HashFunction } from '../remote/format/content-names.js';
import { hashPrefix } from '../remote/format/layer-directory.js';
import type { CheckpointReader } from './checkpoint-reader.js';
import { compareBytes } from './compare-bytes.js';
import { FrameReadahead } from './frame-readahead.js';
import { addChildren, type FarNode, type FarNodeIndex } from './lazy-segment-table.js';
import type { LazySegments } from './lazy-segments.js';
import type { LayerParts, NodePlace, RowPlace } from './read-layer-directory.js';
import { RemoteNodeIndex } from './remote-node-index.js';
import { type Chunks, store, storeAgain } from './write-fetched-segments.js';

/** Frames of rows whose leaves are made at once. */
const FRAMES_AT_ONCE = 16;
/** Leaves that are remembered, so that overlapping frames do not make them again: of several runs of that length. */
const MADE = 4096;

/** A wanted node. */
interface Target extends FarNode {
  readonly name: string;
  /** The segment that names it. */
  readonly segment: number;
}

/** Frames of the first layer that follow each other, by their numbers, with the leaves in them. */
interface Run {
  from: number;
  to: number;
  readonly targets: Target[];
}

export class Fetcher {
  readonly #shared: SharedStore;
  readonly #source: CheckpointReader;
  readonly #parents: RemoteNodeIndex;
  readonly #hash: HashFunction;
  readonly #mends = new Map<FarNodeIndex, Promise<void>>();
  /** The last leaves that were made, by their hashes in hexadecimal. */
  #made = new Set<string>();
  readonly #rowsAhead = new FrameReadahead();
  readonly #nodesAhead = new FrameReadahead();

  constructor(
    shared: SharedStore,
    segments: LazySegments,
    source: CheckpointReader,
    hash: HashFunction,
  ) {
    this.#shared = shared;
    this.#source = source;
    this.#parents = new RemoteNodeIndex(segments, hash);
    this.#hash = hash;
  }

  /** Fetches chunks, makes them known to the core and stores them. Rejects with `offline`, and as remotes do. */
  async fetch(parts: readonly SegmentPart[]): Promise<Uint8Array[]> {
    const targets = await Promise.all(parts.map((part) => this.#target(part)));
    await this.#shared.prepareIds();
    const chunks: Chunks = new Map();
    try {
      const found = await Promise.all([
        this.#nodes(targets.filter(({ level }) => level > 0)),
        this.#leaves(targets.filter(({ level }) => level === 0)),
      ]);
      for (const some of found) for (const [name, bytes] of some) chunks.set(name, bytes);
    } catch (cause) {
      this.#source.forget();
      throw explainOffline(cause, targets);
    }
    // A chunk that came with another call is in the core.
    return targets.map(({ name }) => chunks.get(name) ?? new Uint8Array());
  }

  async #target({ id, from }: SegmentPart): Promise<Target> {
    const name = this.#parents.nameAt(id, from);
    const named = await this.#parents.of(id);
    if (!named.nodes.has(name) && named.damaged.size > 0) await this.#mend(named);
    const node = named.nodes.get(name);
    if (node !== undefined) return { ...node, name, segment: id };
    const message = `the parent of the chunk ${name} cannot be read: pull, or repair the store`;
    throw new HedgerowError('corrupt-chunk', message, { chunk: name });
  }

  /** Fetches the damaged nodes of a segment: without them the nodes below are unknown. */
  #mend(named: FarNodeIndex): Promise<void> {
    const running = this.#mends.get(named);
    if (running !== undefined) return running;
    const mending = this.#fetchDamaged(named)
      .catch((cause: unknown) => {
        throw explainOffline(cause, []);
      })
      .finally(() => this.#mends.delete(named));
    this.#mends.set(named, mending);
    return mending;
  }

  async #fetchDamaged(named: FarNodeIndex): Promise<void> {
    await this.#shared.prepareIds();
    const { layers } = await this.#source.base(true);
    const places = [...named.damaged.values()].flatMap((hashBytes) => placesOf(layers, hashBytes));
    const tops = layers.map(({ topBytes }) => topBytes);
    const frames = [...tops, ...(await Promise.all(this.#source.frames(places)))];
    const found = await storeAgain(this.#shared, this.#hash, frames, named.damaged);
    for (const [name, nodeBytes] of found) {
      addChildren(named, nodeBytes);
      named.damaged.delete(name);
    }
  }

  /** Fetches internal nodes. */
  async #nodes(targets: readonly Target[]): Promise<Chunks> {
    if (targets.length === 0) return new Map();
    let made: Chunks = new Map();
    for (const isAll of [false, true]) {
      // The frames were damaged on their way, or the remote has others by now.
      if (isAll) this.#source.forget();
      const { layers } = await this.#source.base(isAll);
      const left = targets.filter(({ name }) => !made.has(name));
      const places = left.flatMap(({ hashBytes }) => placesOf(layers, hashBytes));
      if (isAll && places.length < left.length) throw buildChangedRowsError(left[0] as Target);
      if (layers[0] !== undefined) this.#lookAheadNodes(layers[0], places);
      const frames = await Promise.all(this.#source.frames(places));
      const core = await lazyCloneCalls(this.#shared.host);
      for (const frame of new Set(frames)) core.landNodes(frame);
      made = new Map([...made, ...(await store(this.#shared, core))]);
      // A node that is here, and damaged, was not taken.
      const damaged = new Set(left.flatMap(({ name }) => (made.has(name) ? [] : [name])));
      if (damaged.size > 0) {
        const again = await storeAgain(this.#shared, this.#hash, frames, damaged);
        for (const [name, bytes] of again) made.set(name, bytes);
      }
      if (targets.every(({ name }) => made.has(name))) break;
    }
    return made;
  }

  /** Fetches leaves. */
  async #leaves(targets: readonly Target[]): Promise<Chunks> {
    const made: Chunks = new Map();
    if (targets.length === 0) return made;
    let left = targets;
    for (const isAll of [false, true]) {
      // The frames were damaged on their way, or the remote has others by now.
      if (isAll) this.#source.forget();
      const { layers } = await this.#source.base(isAll);
      const [first] = layers;
      if (first === undefined || first.rows.length === 0) break;
      // If its parent does not show where a leaf begins, the leaf may begin in the frame before.
      for (let back = 0; back < 2 && left.length > 0; back++) {
        for (const batch of batches(runsOf(first, left, back))) {
          for (const [name, bytes] of await this.#makeAll(layers, batch)) made.set(name, bytes);
        }
        left = left.filter(({ name }) => !made.has(name));
      }
      if (left.length === 0) return made;
    }
    throw buildChangedRowsError(left[0] as Target);
  }

  /** Makes the wanted leaves of some runs of frames, and the leaves that come with them. */
  async #makeAll(layers: readonly LayerParts[], runs: readonly Run[]): Promise<Chunks> {
    const [first] = layers as [LayerParts];
    const places = layers.flatMap((parts, nth) =>
      runs.flatMap(({ from, to }) => {
        if (nth === 0) return first.rows.slice(from, to + 1);
        const begin = from === 0 ? undefined : first.rows[from]?.firstKey;
        return parts.between(begin, first.rows[to + 1]?.firstKey);
      }),
    );
    this.#lookAhead(first, runs);
    const once = [...new Map(places.map((place) => [`${place.path} ${place.range.from}`, place]))];
    const frames = await Promise.all(this.#source.frames(once.map(([, place]) => place)));
    const { host } = this.#shared;
    const core = await lazyCloneCalls(host);
    const op = core.leaves();
    let startMs = performance.now();
    const rest = async () => {
      if (performance.now() - startMs < host.sliceMs / 2) return;
      await turn();
      startMs = performance.now();
    };
    try {
      for (const frame of frames) {
        core.add(op, frame);
        await rest();
      }
      core.sort(op);
      for (const run of runs) {
        for (const node of [...run.targets, ...(await this.#others(first, run))]) {
          core.make(op, node);
          await rest();
        }
      }
    } catch (cause) {
      await this.#end(core, op);
      throw cause;
    }
    const made = await this.#end(core, op);
    if (this.#made.size > MADE) this.#made = new Set();
    for (const name of made.keys()) this.#made.add(name);
    return made;
  }

  #end(core: LazyCloneCalls, op: number): Promise<Chunks> {
    core.free(op);
    return store(this.#shared, core);
  }

  /** Finds the other leaves that are entirely in the frames of a run. */
  async #others(first: LayerParts, { from, to, targets }: Run): Promise<FarNode[]> {
    const wanted = new Set(targets.map(({ name }) => name));
    const begin = (first.rows[from] as RowPlace).firstKey;
    const end = first.rows[to + 1]?.firstKey;
    const others: FarNode[] = [];
    for (const id of new Set(targets.map(({ segment }) => segment))) {
      for (const [name, node] of await this.#parents.nodes(id)) {
        const { level, after, lastKey } = node;
        if (level > 0 || wanted.has(name) || this.#made.has(name)) continue;
        const isBehind =
          after === undefined ? false : from === 0 || compareBytes(after, begin) >= 0;
        if (isBehind && (end === undefined || compareBytes(lastKey, end) < 0)) others.push(node);
      }
    }
    return others;
  }

  /** Fetches the next frames for a reader that goes from frame to frame. */
  #lookAhead(first: LayerParts, runs: readonly Run[]): void {
    const [only] = runs;
    if (only === undefined || runs.length > 1) return;
    const [from, to] = this.#rowsAhead.next(only.from, only.to);
    this.#source.fetchAhead(first.rows.slice(from, to));
  }

  /** Does the same for nodes, which are in the order of keys, too. */
  #lookAheadNodes(first: LayerParts, places: readonly NodePlace[]): void {
    const [only] = places;
    if (only === undefined || places.length > 1 || first.nodes[only.nth] !== only) return;
    const [from, to] = this.#nodesAhead.next(only.nth, only.nth);
    this.#source.fetchAhead(first.nodes.slice(from, to));
  }
}

/** Finds the frames that may have an internal node. */
function placesOf(layers: readonly LayerParts[], hashBytes: Uint8Array): readonly NodePlace[] {
  return layers.flatMap((parts) => parts.nodesAt(hashPrefix(hashBytes)));
}

/** Finds the runs of frames with the rows of leaves; with `back`, so many frames more before each. */
function runsOf(first: LayerParts, targets: readonly Target[], back: number): Run[] {
  const last = first.rows.length - 1;
  const at = (key: Uint8Array) => Math.min(last, Math.max(0, first.frameOf(key)));
  const sorted = targets
    .map((target) => {
      const to = at(target.lastKey);
      const from = target.after === undefined ? to : at(target.after);
      return { target, from: Math.max(0, from - back), to };
    })
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const runs: Run[] = [];
  for (const { target, from, to } of sorted) {
    const run = runs[runs.length - 1];
    if (run !== undefined && from <= run.to + 1) {
      run.to = Math.max(run.to, to);
      run.targets.push(target);
    } else runs.push({ from, to, targets: [target] });
  }
  return runs;
}

/** Groups runs whose frames are in memory at once. A long run is a group of its own. */
function* batches(runs: readonly Run[]): Generator<Run[], void, void> {
  let batch: Run[] = [];
  let frames = 0;
  for (const run of runs) {
    const length = run.to - run.from + 1;
    if (frames > 0 && frames + length > FRAMES_AT_ONCE) {
      yield batch;
      batch = [];
      frames = 0;
    }
    batch.push(run);
    frames += length;
  }
  if (frames > 0) yield batch;
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function buildChangedRowsError({ name, lastKey }: Target): HedgerowError {
  const rows = `the rows up to ${JSON.stringify(textOf(lastKey))}`;
  const message = `${rows} are not here, and the remote has others by now: pull, and try again`;
  return new HedgerowError('missing-chunk', message, { chunk: name });
}

/** Says in an `offline` error which rows are not here; without targets, that their parent is damaged. */
function explainOffline(cause: unknown, targets: readonly Target[]): unknown {
  if (!(cause instanceof HedgerowError) || cause.code !== 'offline') return cause;
  if (targets.length === 0) {
    const message = 'the node above these rows is damaged here, and the remote is not reached';
    return new HedgerowError('offline', message, { cause });
  }
  const keys = targets.map(({ lastKey }) => lastKey).sort(compareBytes);
  const starts = targets.flatMap(({ after }) => (after === undefined ? [] : [after]));
  const [first] = starts.sort(compareBytes);
  const isBounded = first !== undefined && starts.length === targets.length;
  const range = {
    ...(isBounded && { gt: textOf(first) }),
    lte: textOf(keys[keys.length - 1] as Uint8Array),
  };
  const message = `the rows in ${JSON.stringify(range)} are not here, and the remote is not reached`;
  return new HedgerowError('offline', message, { cause, range });
}
