/**
 * Brings the rows of a checkpoint to the branch of a remote: a clone, and the way back for a device that was away for
 * longer than the tail reaches. Its packs are fetched several at once, and applied one after the other. What was applied
 * is kept by a ref of its own until it is whole, so that a clone that was cut off goes on with the next pack:
 *
 *     landed  number of the generation : f64 | packs of it that were applied : f64 | start of the last one's name : 16
 */

import { sameBytes } from '../base/bytes.js';
import { hex } from '../base/hex.js';
import { checkSignal } from '../base/signal.js';
import { BranchHead } from '../history/branch-head.js';
import { EMPTY_COMMIT } from '../history/inventory.js';
import { invalidRemote } from '../remote/format/cursor.js';
import {
  checkpointRows,
  type Generation,
  type PackRecord,
  packsOf,
} from '../remote/format/head.js';
import { entriesAfterCheckpoint } from '../remote/format/head-rules.js';
import { checkName, pathOf } from '../remote/format/names.js';
import { decodePack } from '../remote/format/pack.js';
import type { SyncContext, SyncJob } from './context.js';
import { applyDeltas, rowsOf } from './delta.js';
import { applyEntries, type Seen, seenMoves } from './entries.js';

/** Packs that are fetched at once: browsers open six connections to a host. */
const AT_ONCE = 4;
/** Packs in one commit: what a crash may cost. */
const COMMIT_PACKS = 4;
const NAME_BYTES = 16;

/** A pack, and where it belongs. */
interface Wanted {
  readonly generation: Generation;
  /** Its number in the generation. */
  readonly nth: number;
  readonly pack: PackRecord;
}

/** Moves the branch of the remote to the rows of a head, by its checkpoint. `false` if a ref moved. */
export async function landCheckpoint(
  context: SyncContext,
  now: Seen,
  job: SyncJob,
): Promise<boolean> {
  const { refs, shared, durability } = context;
  const { checkpoint } = now.seen.head;
  const landing = await begin(context, now);
  if (landing === undefined) return false;
  const { branchHead } = landing;
  try {
    const landed = await apply(context, landing.wanted, branchHead, job);
    if (!landed) return false;
    const commitBytes = branchHead.head.commitBytes;
    const rows = await rowsOf(shared, commitBytes);
    if (!sameBytes(rows.rootBytes, checkpointRows(checkpoint).rootBytes)) {
      // Not again by the same way: the next try begins without what was applied.
      await refs.move({ landing: EMPTY_COMMIT, landed: EMPTY_COMMIT }, durability);
      throw invalidRemote('pack', 'its packs lead to other rows than the head says', 0);
    }
    const isMoved = await refs.move(
      {
        origin: commitBytes,
        checkpoint: commitBytes,
        landing: EMPTY_COMMIT,
        landed: EMPTY_COMMIT,
        ...seenMoves(now),
      },
      durability,
    );
    if (!isMoved) return false;
    const entries = entriesAfterCheckpoint(now.seen.head);
    const state = await refs.look();
    const outcome = await applyEntries(context, { ...now, state }, entries, job);
    if (outcome !== 'wrong-root') return outcome === 'applied';
    throw invalidRemote('delta', 'its edits lead to other rows than the head says', 0);
  } finally {
    branchHead.leave();
  }
}

interface Landing {
  readonly branchHead: BranchHead;
  readonly wanted: readonly Wanted[];
}

/** Where to begin: where a clone was cut off, at a generation that is here, or with nothing. */
async function begin(
  { shared, refs, durability }: SyncContext,
  { state, seen }: Seen,
): Promise<Landing | undefined> {
  const { generations } = seen.head.checkpoint;
  const all = generations.flatMap((generation) =>
    generation.packs.map((pack, nth): Wanted => ({ generation, nth, pack })),
  );
  const progress = progressOf(refs.bytes('landed'));
  let done = progress === undefined ? 0 : 1 + all.findIndex((one) => isLast(one, progress));
  let from = refs.bytes('landing');
  if (done === 0 || from === undefined) {
    from = EMPTY_COMMIT;
    done = 0;
    for (const commitBytes of [state.origin, state.checkpoint]) {
      if (commitBytes === undefined) continue;
      const { rootBytes } = await rowsOf(shared, commitBytes);
      const nth = generations.findIndex(({ rows }) => sameBytes(rows.rootBytes, rootBytes));
      const packs = packsOf({ seq: 0, generations: generations.slice(0, nth + 1) }).length;
      if (packs > done) [from, done] = [commitBytes, packs];
    }
    const landed = done === 0 ? EMPTY_COMMIT : bytesOf(all[done - 1] as Wanted);
    if (!(await refs.move({ landing: from, landed }, durability))) return undefined;
  }
  const branchHead = new BranchHead(shared, refs.names.landing);
  branchHead.isBare = true;
  await shared.queued(() => branchHead.refresh());
  return { branchHead, wanted: all.slice(done) };
}

/** Fetches packs and applies them, some in each commit. */
async function apply(
  context: SyncContext,
  wanted: readonly Wanted[],
  branchHead: BranchHead,
  job: SyncJob,
): Promise<boolean> {
  const { refs, durability } = context;
  const stop = new AbortController();
  const { signal } = stop;
  const end = () => stop.abort(job.signal?.reason);
  job.signal?.addEventListener('abort', end);
  const ahead: Promise<Fetched>[] = [];
  let [asked, applied, bytes] = [0, 0, 0];
  const take = async function* (upTo: number): AsyncGenerator<Uint8Array, void, void> {
    while (applied < upTo) {
      checkSignal(job.signal);
      for (; asked < wanted.length && ahead.length < AT_ONCE; asked++) {
        const fetching = fetchPack(context, (wanted[asked] as Wanted).pack, signal);
        fetching.catch(() => {}); // reported when its turn comes
        ahead.push(fetching);
      }
      const { deltaBytes, length } = (await ahead.shift()) as Fetched;
      yield deltaBytes;
      applied += 1;
      bytes += length;
      job.onProgress?.({ phase: 'packs-in', packs: applied, allPacks: wanted.length, bytes });
    }
  };
  try {
    while (applied < wanted.length) {
      const upTo = Math.min(applied + COMMIT_PACKS, wanted.length);
      const moves = refs.moves({ landed: bytesOf(wanted[upTo - 1] as Wanted) });
      const { outcome } = await applyDeltas(branchHead, {
        deltas: take(upTo),
        after: undefined,
        onto: branchHead.head.commitBytes,
        durability,
        also: moves,
        signal: job.signal,
      });
      if (outcome !== 'applied') return false;
      refs.moved(moves);
      await refs.look();
    }
    return true;
  } finally {
    job.signal?.removeEventListener('abort', end);
    stop.abort();
  }
}

interface Fetched {
  readonly deltaBytes: Uint8Array;
  /** Bytes that have travelled. */
  readonly length: number;
}

/** Fetches a pack and inflates it. */
async function fetchPack(
  { remote, tools }: SyncContext,
  { nameBytes, length }: PackRecord,
  signal: AbortSignal,
): Promise<Fetched> {
  const bytes = await remote.get(pathOf('p', nameBytes), undefined, { signal });
  if (bytes === undefined) {
    throw invalidRemote('pack', `there is no ${hex(nameBytes)}, which the head names`, 0);
  }
  if (bytes.length !== length) throw invalidRemote('pack', `${bytes.length} bytes of ${length}`, 0);
  checkName('pack', nameBytes, bytes, tools.hash);
  return { deltaBytes: await decodePack(bytes, tools.inflate), length };
}

/** The bytes of the ref `landed` when a pack is the last one that was applied. */
function bytesOf({ generation, nth, pack }: Wanted): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, generation.seq, true);
  view.setFloat64(8, nth + 1, true);
  bytes.set(pack.nameBytes.subarray(0, NAME_BYTES), NAME_BYTES);
  return bytes;
}

function progressOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined || sameBytes(bytes, EMPTY_COMMIT) ? undefined : bytes;
}

function isLast(wanted: Wanted, progress: Uint8Array): boolean {
  return sameBytes(bytesOf(wanted), progress);
}
