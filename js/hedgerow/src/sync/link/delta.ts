/**
 * Deltas: the edits of one step, as bytes that another device applies. See `crate/src/delta`.
 *
 * Trees are canonical: a device that has the first rows of a delta, and applies it, has the root of its last rows. So a
 * delta carries no chunks, and its receiver compares one hash before it stores a row.
 */

import * as Status from '../../base/abi/status.js';
import { checkSignal } from '../../base/abort-signal.js';
import { concatBytes, sameBytes } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';
import { type DeltaCalls, deltaCalls, type RowsRoot } from '../../core/calls/delta-calls.js';
import * as calls from '../../core/calls/ingest-calls.js';
import type { Op } from '../../core/engine.js';
import { endSlice, type Host } from '../../core/operation-host.js';
import type { BranchHead, HeldHead } from '../../engine/history/branch-head.js';
import type { Partner } from '../../engine/history/joint-moves.js';
import { writeRefs } from '../../engine/history/ref-write.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import { abandonOnError, Ingest, type WriteResult } from '../../engine/write/ingest.js';
import { buildBulkResult } from '../../engine/write/put-many.js';
import type { Durability, RefMove } from '../../storage/segment-store.js';
import { sameRows } from '../remote/format/head-record.js';

export type { RowsRoot };

/** Bytes of a delta that enter the core at once. */
const PART_BYTES = 512 << 10;

/** Options of `makeDelta`. */
export interface MakeDeltaOptions {
  /** The longest delta, in bytes, before it is deflated; 128 MiB at most, and by default. */
  readonly maxBytes?: number | undefined;
  /** Ends the call with `aborted` after the slice that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** A delta, and the rows that it leads to. */
export interface MadeDelta {
  /** Not compressed. */
  readonly deltaBytes: Uint8Array;
  /** Rows that it puts or deletes. */
  readonly edits: number;
  /** The rows that it leads to. */
  readonly after: RowsRoot;
}

/** Opens views of commits for `read`, and closes them. */
async function withViews<T>(
  shared: SharedStore,
  commits: readonly Uint8Array[],
  read: (views: number[]) => Promise<T>,
): Promise<T> {
  const views: number[] = [];
  try {
    for (const commitBytes of commits) views.push((await shared.openView(commitBytes)).view);
    return await read(views);
  } finally {
    for (const view of views) shared.host.engine.closeView(view);
  }
}

/** Reads the root and count of a commit's rows. The caller holds the commit. Costs a read of it if not in memory. */
export async function readRowsRoot(
  shared: SharedStore,
  commitBytes: Uint8Array,
): Promise<RowsRoot> {
  const core = await deltaCalls(shared.host);
  return withViews(shared, [commitBytes], async ([view = 0]) => core.rows(view));
}

/** Returns whether two commits have the same rows; their indexes may differ. The caller holds both. */
export async function areSameRows(
  shared: SharedStore,
  one: Uint8Array,
  other: Uint8Array,
): Promise<boolean> {
  const [here, there] = [await readRowsRoot(shared, one), await readRowsRoot(shared, other)];
  return sameBytes(here.rootBytes, there.rootBytes);
}

/**
 * Makes the delta that leads from the rows of one commit to the rows of another, in slices; 32 zero bytes are the
 * commit without rows. The caller holds both commits. Costs the nodes that the two do not share, and a copy of each new
 * value. Resolves to `'too-long'` as soon as the delta is longer than `maxBytes`: then a checkpoint is due.
 */
export async function makeDelta(
  shared: SharedStore,
  from: Uint8Array,
  to: Uint8Array,
  { maxBytes = Number.MAX_SAFE_INTEGER, signal }: MakeDeltaOptions = {},
): Promise<MadeDelta | 'too-long'> {
  checkSignal(signal);
  const { host } = shared;
  const core = await deltaCalls(host);
  return withViews(shared, [from, to], async ([old = 0, now = 0]) => {
    const after = core.rows(now);
    const delta = core.make(old, now, NEVER_BYTES, maxBytes);
    try {
      const made = await next(host, core, delta, signal);
      return made === undefined ? 'too-long' : { ...made, after };
    } finally {
      core.free(delta);
    }
  });
}

/** Deltas are never cut. */
const NEVER_BYTES = Number.MAX_SAFE_INTEGER;

/**
 * Makes several deltas, as `makeDelta` makes one: each ends with the edit by which it has `cutBytes`, and leads on from
 * the one before. Their keys ascend. Equal rows give no delta. Rejects with `invalid-argument/value` if a single row is
 * longer than `maxBytes`. Costs memory for one delta.
 */
export async function* makeDeltas(
  shared: SharedStore,
  from: Uint8Array,
  to: Uint8Array,
  {
    cutBytes,
    maxBytes,
    signal,
  }: MakeDeltaOptions & { readonly cutBytes: number; readonly maxBytes: number },
): AsyncGenerator<Omit<MadeDelta, 'after'>, void, void> {
  checkSignal(signal);
  const { host } = shared;
  const core = await deltaCalls(host);
  const old = await shared.openView(from);
  const now = await shared.openView(to);
  const delta = core.make(old.view, now.view, cutBytes, maxBytes);
  try {
    for (;;) {
      const made = await next(host, core, delta, signal);
      if (made === undefined) {
        throw new HedgerowError(
          'invalid-argument/value',
          `a remote takes no row of ${maxBytes} bytes`,
        );
      }
      if (made.edits > 0) yield made;
      if (!made.hasNext) return;
    }
  } finally {
    core.free(delta);
    for (const { view } of [old, now]) host.engine.closeView(view);
  }
}

interface DeltaStep extends Omit<MadeDelta, 'after'> {
  readonly hasNext: boolean;
}

/** Makes the next delta; resolves to `undefined` if it is too long. */
async function next(
  host: Host,
  core: DeltaCalls,
  delta: Op,
  signal: AbortSignal | undefined,
): Promise<DeltaStep | undefined> {
  const parts: Uint8Array[] = [];
  for (;;) {
    checkSignal(signal);
    const status = host.step(delta, performance.now(), (budget) => core.step(delta, budget));
    if (status === Status.need) {
      await host.load(host.engine.readNeededParts());
      continue;
    }
    const bytes = core.bytes();
    if (bytes === undefined) return undefined;
    parts.push(bytes);
    const hasNext = core.hasEnded();
    if (status === Status.done || hasNext) {
      const made = { deltaBytes: concatBytes(parts), edits: core.edits(), hasNext };
      if (!hasNext) host.engine.noteSuccess();
      return made;
    }
    await turn();
  }
}

/** A delta, as a whole or in parts that are cut anywhere. */
export type DeltaBytes = Uint8Array | AsyncIterable<Uint8Array>;

/** Deltas that one commit applies. */
export interface DeltaChange {
  /** The first leads from the rows of `onto`, each later one leads on from the one before. */
  readonly deltas: Iterable<DeltaBytes> | AsyncIterable<DeltaBytes>;
  /** The rows that the last one must lead to; `undefined` if only the rows after later deltas are known. */
  readonly after: RowsRoot | undefined;
  /** The commit that the branch must be at. */
  readonly onto: Uint8Array;
  readonly durability: Durability;
  /** Other refs, which move in the transaction of the commit, even if it changes no row. */
  readonly also?: readonly RefMove[] | undefined;
  /** Moves other refs together with a commit that changes rows. */
  readonly partner?: Partner | undefined;
  /** Ends the call with `aborted`, unless storage already has the commit. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of `applyDeltas`. */
export type DeltaOutcome =
  /** This commit has the edits. `rows` counts them, `bytes` the bytes of the deltas. */
  | ({ readonly outcome: 'applied'; readonly commitBytes: Uint8Array } & WriteResult)
  /** The deltas lead to other rows than promised: the branch is unchanged. */
  | { readonly outcome: 'wrong-root'; readonly made: RowsRoot }
  /** The branch, or a ref of `also`, is not where it should be, or another writer was first: no row has changed. */
  | { readonly outcome: 'moved' };

/**
 * Applies deltas to a branch, in one commit, with the indexes and sum trees of its handle. The bytes may be hostile:
 * rejects with `invalid-data/delta`, and the offset, when they are malformed, and with `newer-version/format` when a
 * newer version has written them. Costs what a patch of the same rows costs.
 */
export async function applyDeltas(
  branchHead: BranchHead,
  change: DeltaChange,
): Promise<DeltaOutcome> {
  const startMs = performance.now();
  const { durability, signal } = change;
  const { shared } = branchHead;
  checkSignal(signal);
  await shared.prepareIds();
  const held = await branchHead.holdHead();
  let ingest: Ingest;
  let core: DeltaCalls;
  try {
    if (!sameBytes(held.head.commitBytes, change.onto)) {
      held.release();
      return { outcome: 'moved' };
    }
    core = await deltaCalls(shared.host);
    ingest = new Ingest(shared.host, branchHead, durability, { signal }, held);
  } catch (cause) {
    held.release();
    throw cause;
  }
  return abandonOnError(ingest, async () => {
    const applied = await feedAndCommit(core, branchHead, ingest, held, change, startMs);
    if (applied.outcome !== 'applied') await ingest.abandon();
    return applied;
  });
}

async function feedAndCommit(
  core: DeltaCalls,
  branchHead: BranchHead,
  ingest: Ingest,
  { head }: HeldHead,
  { deltas, after, durability, also = [], partner, signal }: DeltaChange,
  startMs: number,
): Promise<DeltaOutcome> {
  const { host } = branchHead.shared;
  let edits = 0;
  let turnMs = performance.now();
  for await (const delta of deltas) {
    edits += await feed(core, host, ingest, delta);
    // Many deltas are short: a slice has several.
    if (performance.now() - turnMs < host.sliceMs / 2) continue;
    await turn();
    turnMs = performance.now();
  }
  calls.finish(host.engine, ingest.op);
  await ingest.drain(performance.now());
  const made = core.madeRows(ingest.op);
  if (after && !sameRows(made, after)) return { outcome: 'wrong-root', made };
  const committed = await branchHead.exclusively(async () => {
    // A rebase would add the changes of others, and so give other rows than promised.
    if (branchHead.head.generation !== head.generation) return undefined;
    const made = await ingest.commitOnce({ also, partner });
    if (made === undefined || also.length === 0) return made;
    // If no row has changed, only the other refs move.
    const isAlone = branchHead.head.generation === head.generation;
    if (isAlone && !(await writeRefs(host.segments, { segments: [], also, durability }))) {
      return undefined;
    }
    branchHead.inventory.noteMoves(also);
    return made;
  }, signal);
  if (committed === undefined) return { outcome: 'moved' };
  const { commitBytes } = committed;
  return { outcome: 'applied', commitBytes, ...buildBulkResult(ingest, committed, edits, startMs) };
}

/** Passes a delta to an ingest; resolves to the number of its edits. */
async function feed(
  core: DeltaCalls,
  host: Host,
  ingest: Ingest,
  deltaBytes: DeltaBytes,
): Promise<number> {
  const delta = core.apply(ingest.op);
  try {
    let [startMs, bytes] = [performance.now(), 0];
    for await (const part of partsOf(deltaBytes)) {
      core.append(delta, part);
      bytes += part.length;
      ingest.bytes += part.length;
      // Inflating a part has taken its time of the slice.
      if (bytes < PART_BYTES && performance.now() - startMs < host.sliceMs / 2) continue;
      await take(core, host, ingest, delta, startMs);
      await turn();
      [startMs, bytes] = [performance.now(), 0];
    }
    core.end(delta);
    await take(core, host, ingest, delta, startMs);
    return core.edits();
  } finally {
    core.free(delta);
  }
}

function* wholeParts(deltaBytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < deltaBytes.length; at += PART_BYTES) {
    yield deltaBytes.subarray(at, at + PART_BYTES);
  }
}

function partsOf(delta: DeltaBytes): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return delta instanceof Uint8Array ? wholeParts(delta) : delta;
}

/** Takes all complete edits of the bytes so far. */
async function take(
  core: DeltaCalls,
  host: Host,
  ingest: Ingest,
  delta: Op,
  sliceStartMs: number,
): Promise<void> {
  for (let startMs = sliceStartMs; ; startMs = performance.now()) {
    ingest.check();
    const status = host.step(delta, startMs, (budget) => core.step(delta, budget));
    const needed = status === Status.need ? host.engine.readNeededParts() : [];
    endSlice(ingest.times, startMs);
    if (status === Status.done) return;
    if (needed.length > 0) await host.load(needed);
    else {
      await turn();
      // The merged edits are on their way to storage.
      await ingest.drain(performance.now());
    }
    await turn();
  }
}
