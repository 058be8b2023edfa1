/**
 * The replica of a store that is only partly here. It begins at the commit of a checkpoint, whose highest nodes come
 * with the directories. Later heads come to it by the edits of their tails and layers, which touch few leaves; where a
 * checkpoint was written again, it begins again.
 */

import { concatBytes, sameBytes } from '../../base/bytes.js';
import { lazyCloneCalls } from '../../core/calls/lazy-clone-calls.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { readRowsRoot } from '../link/delta.js';
import type { HeadEntries } from '../link/head-entries.js';
import { landCheckpoint } from '../link/land-checkpoint.js';
import type { MergeCounts, Replica, SyncJob, SyncParts } from '../link/link-context.js';
import { mergeIn } from '../link/merge-remote-rows.js';
import { invalidRemote } from '../remote/format/field-codec.js';
import {
  type Checkpoint,
  checkpointRows,
  type HeadRecord,
  sameRows,
} from '../remote/format/head-record.js';
import { recordsIn } from '../remote/format/node-records.js';
import { CheckpointReader } from './checkpoint-reader.js';
import { merge } from './lazy-merge.js';
import { store } from './write-fetched-segments.js';

/** Packs with fewer bytes are fetched whole: that takes no more requests. */
const LEAST_BYTES = 128 << 10;

export class PartialReplica implements Replica {
  readonly isPartial = true;
  readonly source: CheckpointReader;
  readonly #parts: SyncParts;

  constructor(parts: SyncParts) {
    this.#parts = parts;
    this.source = new CheckpointReader(parts);
  }

  merge(seq: number, job: SyncJob): Promise<MergeCounts> {
    return merge(this.#parts, seq, job);
  }

  /** Brings the checkpoint of a remote to a store without rows; resolves to `false` if it is not worth it. */
  async begin(job: SyncJob): Promise<boolean> {
    const { refs, heads, local, durability } = this.#parts;
    const state = await refs.look();
    // A connection that begins again may have rows here that are newer than the checkpoint: a pull merges them with the
    // head.
    if (!sameBytes(state.origin, EMPTY_COMMIT) || local.head.rows > 0) return true;
    const seen = await heads.latest(state, job.signal);
    if (seen === undefined || !isWorth(seen.head.checkpoint)) return false;
    const { checkpoint } = seen.head;
    const origin = await this.#landTop(seen.head);
    if (!(await refs.move({ origin, checkpoint: origin }, durability))) return false;
    await mergeIn(this.#parts, checkpoint.seq, job);
    return true;
  }

  /** Makes the commit of a checkpoint, and lands the nodes of its directories. */
  async #landTop(head: HeadRecord): Promise<Uint8Array> {
    const { shared, tools } = this.#parts;
    const { checkpoint } = head;
    const layers = await this.source.parts(head, checkpoint.layers);
    const rows = checkpointRows(checkpoint);
    await shared.prepareIds();
    const core = await lazyCloneCalls(shared.host);
    // The newest first: the nodes that they name come after them.
    const topBytes = concatBytes([...layers].reverse().map((parts) => parts.topBytes));
    core.landTop(rows.rootBytes, topBytes);
    await store(shared, core);
    const isTop = ({ nodeBytes }: { readonly nodeBytes: Uint8Array }) =>
      sameBytes(tools.hash(nodeBytes), rows.rootBytes);
    if (![...recordsIn(topBytes)].some(isTop)) {
      throw invalidRemote('directory', 'it does not have the top of the tree', 0);
    }
    const commitBytes = core.commit(rows.rootBytes, rows.count);
    await store(shared, core);
    return commitBytes;
  }

  /** Brings the branch of the remote to a head whose tail does not lead on from the state here. */
  async land(found: HeadEntries, job: SyncJob): Promise<boolean> {
    const { shared, refs, durability } = this.#parts;
    const { state, seen } = found;
    const { checkpoint } = seen.head;
    const isOnTheWay = await Promise.all(
      [state.origin, state.checkpoint].map(async (commit) => {
        if (commit === undefined || sameBytes(commit, EMPTY_COMMIT)) return false;
        const rows = await readRowsRoot(shared, commit);
        return checkpoint.layers.some((one) => sameRows(one.rows, rows));
      }),
    );
    if (isOnTheWay.includes(true) || !isWorth(checkpoint))
      return landCheckpoint(this.#parts, found, job);
    const commitBytes = await this.#landTop(seen.head);
    const moves = { checkpoint: commitBytes, landing: EMPTY_COMMIT, landed: EMPTY_COMMIT };
    if (!(await refs.move(moves, durability))) return false;
    const next = { ...found, state: { ...state, checkpoint: commitBytes } };
    return landCheckpoint(this.#parts, next, job);
  }
}

function isWorth({ layers }: Checkpoint): boolean {
  const packs = layers.flatMap((layer) => layer.packs);
  const rows = packs.filter(({ edits }) => edits > 0);
  const hasDirectories = layers.every(({ packs: own }) => own[own.length - 1]?.edits === 0);
  return hasDirectories && rows.reduce((sum, { length }) => sum + length, 0) >= LEAST_BYTES;
}
