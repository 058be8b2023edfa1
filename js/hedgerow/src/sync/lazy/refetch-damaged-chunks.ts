/** Fetches the chunks that an inspection has found damaged, and no others, from a remote that has them. */

import { concatBytes } from '../../base/bytes.js';
import { unhex } from '../../base/hex.js';
import { type LazyCloneCalls, lazyCloneCalls } from '../../core/calls/lazy-clone-calls.js';
import type { ChunkMender } from '../../engine/repair/types.js';
import type { ChunkFault, Inspection } from '../../engine/verify/verify-commit.js';
import type { DeltaBytes } from '../link/delta.js';
import { HeadObjects } from '../link/head-objects.js';
import type { SyncContext } from '../link/link-context.js';
import type { HeadRecord } from '../remote/format/head-record.js';
import { hashPrefix } from '../remote/format/layer-directory.js';
import { CheckpointReader } from './checkpoint-reader.js';
import type { LayerParts } from './read-layer-directory.js';
import { store, storeAgain } from './write-fetched-segments.js';

/** Makes the function that a repair calls. */
export function menderOf(context: SyncContext): ChunkMender {
  const source = new CheckpointReader(context);
  return async (inspection, faults) => {
    let fetched = 0;
    for (const fault of faults) {
      const mender = new Mender(context, source, inspection, fault);
      if (await mender.mend()) fetched += 1;
    }
    return fetched;
  };
}

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Mends one damaged chunk. */
class Mender {
  readonly #context: SyncContext;
  readonly #source: CheckpointReader;
  readonly #inspection: Inspection;
  readonly #fault: ChunkFault;
  readonly #hashBytes: Uint8Array;

  constructor(
    context: SyncContext,
    source: CheckpointReader,
    inspection: Inspection,
    fault: ChunkFault,
  ) {
    this.#context = context;
    this.#source = source;
    this.#inspection = inspection;
    this.#fault = fault;
    this.#hashBytes = unhex(fault.chunk);
  }

  /** Mends the chunk; resolves to whether the remote had it. */
  async mend(): Promise<boolean> {
    const { kind, level, range, code } = this.#fault;
    if (code === 'newer-version' || (kind !== 'node' && kind !== 'value')) return false;
    const head = await this.#source.head();
    // Frames of nodes have no leaves. The top of a tree has no parent that says its level, so it may be a leaf.
    if (kind === 'node' && level !== 0 && (await this.#findNode(head))) return true;
    return range.lte === undefined ? false : this.#findRows(head, range.lte);
  }

  /** Looks for an internal node in the layers, from the first on, which is the longest. */
  async #findNode(head: HeadRecord): Promise<boolean> {
    const { shared } = this.#inspection.branchHead;
    for (const layer of head.checkpoint.layers) {
      const [parts] = (await this.#source.parts(head, [layer])) as [LayerParts];
      const places = parts.nodesAt(hashPrefix(this.#hashBytes));
      const frames = [parts.topBytes, ...(await Promise.all(this.#source.frames(places)))];
      const wanted = new Set([this.#fault.chunk]);
      await shared.prepareIds();
      const made = await storeAgain(shared, this.#context.tools.hash, frames, wanted);
      if (made.size > 0) return true;
    }
    return false;
  }

  /**
   * Makes a node of the rows in its range, or the value of a key: of the rows of the first layer, then with the
   * changes of the next, and so on to the last entry of the tail. The hash shows when the rows are right.
   */
  async #findRows(head: HeadRecord, lte: string): Promise<boolean> {
    const { shared } = this.#inspection.branchHead;
    await shared.prepareIds();
    const core = await lazyCloneCalls(shared.host);
    const op = core.leaves();
    let isMade = false;
    try {
      for await (const deltas of this.#steps(head, utf8(lte))) {
        for (const deltaBytes of deltas) core.add(op, deltaBytes);
        core.sort(op);
        isMade = this.#make(core, op, utf8(lte));
        if (isMade) break;
      }
    } finally {
      core.free(op);
      await store(shared, core);
    }
    return isMade;
  }

  #make(core: LazyCloneCalls, op: number, lastKey: Uint8Array): boolean {
    const { kind, rows = 0 } = this.#fault;
    const hashBytes = this.#hashBytes;
    if (kind === 'value') return core.makeValue(op, hashBytes, lastKey);
    return core.make(op, { hashBytes, lastKey, count: rows });
  }

  /** Yields the edits of the range, layer by layer, then entry by entry. */
  async *#steps(head: HeadRecord, lastKey: Uint8Array): AsyncGenerator<Uint8Array[], void, void> {
    const { gt, gte } = this.#fault.range;
    const from = gt ?? gte;
    for (const layer of head.checkpoint.layers) {
      const [parts] = (await this.#source.parts(head, [layer])) as [LayerParts];
      const end = parts.rows[parts.frameOf(lastKey) + 1]?.firstKey;
      const places = parts.between(from === undefined ? undefined : utf8(from), end);
      yield await Promise.all(this.#source.frames(places));
    }
    const objects = new HeadObjects(this.#context, head, undefined);
    const { tail } = await objects.tailSince(head.checkpoint.seq);
    for (const entry of tail) {
      if (entry.seq > head.checkpoint.seq) yield [await whole(await objects.delta(entry))];
    }
  }
}

async function whole(delta: DeltaBytes): Promise<Uint8Array> {
  if (delta instanceof Uint8Array) return delta;
  const parts: Uint8Array[] = [];
  for await (const part of delta) parts.push(part);
  return concatBytes(parts);
}
