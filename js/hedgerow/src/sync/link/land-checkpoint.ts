/**
 * Brings the rows of a checkpoint to the branch of a remote: for a clone, and for a device that was away for longer
 * than the tail reaches. Several packs are fetched at once, and applied one after the other. While the next pack is not
 * here, the applied ones are committed. A separate ref keeps this commit until all packs are applied, so a clone that
 * was cut off goes on with the next pack:
 *
 *     landed  number of the layer : f64 | packs of it that were applied : f64 | start of the last one's name : 16
 */

import { checkSignal } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { turn } from '../../base/slice-queue.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import type { RefMove } from '../../storage/segment-store.js';
import { objectPath } from '../remote/format/content-names.js';
import { invalidRemote } from '../remote/format/field-codec.js';
import {
  checkpointRows,
  type Layer,
  type PackRecord,
  packsOf,
} from '../remote/format/head-record.js';
import { applyDeltas, type DeltaBytes, readRowsRoot } from './delta.js';
import type { HeadEntries, HeadUpdate } from './head-entries.js';
import type { HeadObjects } from './head-objects.js';
import type { SyncJob, SyncParts } from './link-context.js';

/** Packs that are fetched at the same time: browsers open six connections to a host. */
const AT_ONCE = 4;
/** Most packs in one commit, while packs come faster than they are applied. */
const COMMIT_PACKS = 4;
const NAME_BYTES = 16;

/** Fetched packs that are in no commit yet, by their paths: a call that ends early leaves them to the next one. */
const keptOf = new WeakMap<SyncParts, Map<string, Uint8Array>>();

/** A pack, and its place in the checkpoint. */
interface CheckpointPack {
  readonly layer: Layer;
  /** Its number in the layer. */
  readonly nth: number;
  readonly pack: PackRecord;
}

/** Moves the branch of the remote to the rows of a head, by its checkpoint. `false` if a ref moved. */
export async function landCheckpoint(
  parts: SyncParts,
  found: HeadEntries,
  job: SyncJob,
): Promise<boolean> {
  const { refs, shared, durability } = parts;
  const { seen, objects, marks } = found;
  const { checkpoint } = seen.head;
  const landing = await begin(parts, found);
  if (landing === undefined) return false;
  const { branchHead } = landing;
  try {
    const landed = await apply(parts, objects, landing.wanted, branchHead, job);
    if (!landed) return false;
    const commitBytes = branchHead.head.commitBytes;
    const rows = await readRowsRoot(shared, commitBytes);
    if (!sameBytes(rows.rootBytes, checkpointRows(checkpoint).rootBytes)) {
      // The next try begins without the applied packs, so it does not repeat this.
      await refs.move({ landing: EMPTY_COMMIT, landed: EMPTY_COMMIT }, durability);
      throw invalidRemote('pack', 'its packs lead to other rows than the head says', 0);
    }
    // The next try need not fetch the packs again. The branch of the remote stays until the rows of the head come: it
    // may be newer than the checkpoint.
    const isKept = await refs.move({ checkpoint: commitBytes, landed: EMPTY_COMMIT }, durability);
    if (!isKept) return false;
    const { tail } = await objects.tailSince(checkpoint.seq);
    const entries = tail.filter(({ seq }) => seq > checkpoint.seq);
    const { outcome } = await applyDeltas(branchHead, {
      deltas: objects.deltas(entries),
      after: seen.head.rows,
      onto: commitBytes,
      durability,
      signal: job.signal,
    });
    if (outcome === 'wrong-root') {
      throw invalidRemote('delta', 'its edits lead to other rows than the head says', 0);
    }
    if (outcome === 'moved') return false;
    await refs.look();
    return await refs.move(
      { origin: branchHead.head.commitBytes, landing: EMPTY_COMMIT, ...marks },
      durability,
    );
  } finally {
    branchHead.leave();
  }
}

/** Returns whether a pack has edits: objects without edits are for readers of parts, see `write-layer-directory.ts`. */
function hasRows({ edits }: PackRecord): boolean {
  return edits > 0;
}

interface CheckpointImport {
  readonly branchHead: BranchHead;
  readonly wanted: readonly CheckpointPack[];
}

/** Finds where to begin: where a clone was cut off, at a layer that is here, or without rows. */
async function begin(
  { shared, refs, durability }: SyncParts,
  { state, seen }: HeadUpdate,
): Promise<CheckpointImport | undefined> {
  const { layers } = seen.head.checkpoint;
  const all = layers.flatMap((layer) =>
    layer.packs.filter(hasRows).map((pack, nth): CheckpointPack => ({ layer, nth, pack })),
  );
  const progress = progressOf(refs.bytes('landed'));
  let done = progress === undefined ? 0 : 1 + all.findIndex((one) => isLast(one, progress));
  let from = refs.bytes('landing');
  if (done === 0 || from === undefined) {
    from = EMPTY_COMMIT;
    done = 0;
    for (const commitBytes of [state.origin, state.checkpoint]) {
      if (commitBytes === undefined) continue;
      const { rootBytes } = await readRowsRoot(shared, commitBytes);
      const nth = layers.findIndex(({ rows }) => sameBytes(rows.rootBytes, rootBytes));
      const before = packsOf({ layers: layers.slice(0, nth + 1) });
      const packs = before.filter(hasRows).length;
      if (packs > done) [from, done] = [commitBytes, packs];
    }
    const landed = done === 0 ? EMPTY_COMMIT : bytesOf(all[done - 1] as CheckpointPack);
    if (!(await refs.move({ landing: from, landed }, durability))) return undefined;
  }
  const branchHead = new BranchHead(shared, refs.names.landing);
  branchHead.isBare = true;
  await shared.queueWork(() => branchHead.refresh());
  return { branchHead, wanted: all.slice(done) };
}

/** Fetches packs and applies them, several in each commit. */
async function apply(
  parts: SyncParts,
  objects: HeadObjects,
  wanted: readonly CheckpointPack[],
  branchHead: BranchHead,
  job: SyncJob,
): Promise<boolean> {
  const { refs, durability } = parts;
  const stop = new AbortController();
  const { signal } = stop;
  const end = () => stop.abort(job.signal?.reason);
  job.signal?.addEventListener('abort', end);
  const all = new Set(wanted.map(({ pack }) => objectPath('p', pack.nameBytes)));
  const kept = new Map([...(keptOf.get(parts) ?? [])].filter(([path]) => all.has(path)));
  keptOf.set(parts, kept);
  const ahead: PackFetch[] = [];
  let [asked, applied, bytes] = [0, 0, 0];
  // If a fetch fails or is late, the packs before it are committed first.
  const take = async function* (moves: RefMove[]): AsyncGenerator<DeltaBytes, void, void> {
    const first = applied;
    while (applied < wanted.length && applied < first + COMMIT_PACKS) {
      checkSignal(job.signal);
      for (; asked < wanted.length && ahead.length < AT_ONCE; asked++) {
        const { pack } = wanted[asked] as CheckpointPack;
        ahead.push(new PackFetch(fetchPack(objects, pack, kept, signal)));
      }
      if (applied > first && ahead[0]?.isHere !== true) break;
      const { deltas, length } = await (ahead.shift() as PackFetch).fetched;
      yield* deltas;
      applied += 1;
      bytes += length;
      job.onProgress?.({ phase: 'packs-in', packs: applied, allPacks: wanted.length, bytes });
    }
    moves.push(...refs.moves({ landed: bytesOf(wanted[applied - 1] as CheckpointPack) }));
  };
  try {
    while (applied < wanted.length) {
      const first = applied;
      // Known with the last delta.
      const moves: RefMove[] = [];
      const { outcome } = await applyDeltas(branchHead, {
        deltas: take(moves),
        after: undefined,
        onto: branchHead.head.commitBytes,
        durability,
        also: moves,
        signal: job.signal,
      });
      if (outcome !== 'applied') return false;
      for (const { pack } of wanted.slice(first, applied))
        kept.delete(objectPath('p', pack.nameBytes));
      refs.recordMoves(moves);
      await refs.look();
    }
    return true;
  } finally {
    job.signal?.removeEventListener('abort', end);
    stop.abort();
  }
}

interface PackContent {
  readonly deltas: AsyncIterable<DeltaBytes>;
  /** Bytes that have travelled. */
  readonly length: number;
}

/** A pack on its way. */
class PackFetch {
  readonly fetched: Promise<PackContent>;
  isHere = false;

  constructor(fetched: Promise<PackContent>) {
    this.fetched = fetched;
    const here = () => {
      this.isHere = true;
    };
    // A failure is reported when the turn of the pack comes.
    fetched.then(here, () => {});
  }
}

/** Fetches a pack, unless it is in `kept`; it is inflated as it is applied. */
async function fetchPack(
  objects: HeadObjects,
  pack: PackRecord,
  kept: Map<string, Uint8Array>,
  signal: AbortSignal,
): Promise<PackContent> {
  const path = objectPath('p', pack.nameBytes);
  const bytes = kept.get(path) ?? (await objects.fetch('p', 'pack', pack, signal));
  kept.set(path, bytes);
  // Hashing a long pack has taken a slice.
  await turn();
  return { deltas: objects.packDeltas(bytes), length: bytes.length };
}

/** Returns the bytes of the ref `landed` after this pack was applied. */
function bytesOf({ layer, nth, pack }: CheckpointPack): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, layer.seq, true);
  view.setFloat64(8, nth + 1, true);
  bytes.set(pack.nameBytes.subarray(0, NAME_BYTES), NAME_BYTES);
  return bytes;
}

function progressOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined || sameBytes(bytes, EMPTY_COMMIT) ? undefined : bytes;
}

function isLast(wanted: CheckpointPack, progress: Uint8Array): boolean {
  return sameBytes(bytesOf(wanted), progress);
}
