/** Builds missing indexes, part by part. Loaded when an index is first missing: see `background-index-builder.ts`. */

import { notify } from '../../base/call-callback-safely.js';
import { MAX_BUILD_WAIT_MS } from '../../base/limits.js';
import { encodeRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import { withLock } from '../../base/timeout.js';
import { indexReach } from '../../core/calls/indexes.js';
import { readCountReply, startCount } from '../../core/calls/read-calls.js';
import type { Index } from '../../core/indexes/definition.js';
import { State } from '../../core/indexes/index-set.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import { abandonOnError, Ingest } from './ingest.js';

/** The progress of building indexes. */
export interface IndexProgress {
  /** Rows that every index includes. */
  readonly rows: number;
  readonly total: number;
}

/** Bytes of rows in the first part; each part doubles that, up to `LARGEST_PART`. */
const FIRST_PART = 4 << 20;
const LARGEST_PART = 32 << 20;

/** The parameters of a build. */
export interface IndexBuild {
  readonly host: Host;
  readonly head: BranchHead;
  readonly durability: Durability;
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
  readonly signal: AbortSignal;
  /** Reports whether an index is left to build or to drop. */
  isBehind(): boolean;
}

/**
 * Builds unless another tab does. If that tab makes no progress, builds as well: two builders are safe, one of them
 * loses each race, and a part that both build is stored once.
 */
export async function buildIndexes(job: IndexBuild): Promise<void> {
  const build = async (isAlone: boolean, before: string): Promise<boolean> => {
    if (!isAlone && before !== reachOf(job)) return false;
    await buildAll(job);
    return true;
  };
  for (let isOver = false; !isOver; ) {
    const before = reachOf(job);
    const work = (isAlone: boolean) => build(isAlone, before);
    const { locks, prefix } = job.head.pins;
    isOver = await withLock(locks, `${prefix}indexing`, MAX_BUILD_WAIT_MS, work, job.signal);
  }
}

/** Returns the state of all indexes as text, which shows whether another tab makes progress. */
function reachOf({ host: { engine, indexes }, head }: IndexBuild): string {
  const { view } = head.head;
  const reach = (index: Index) => {
    const state = indexes.state(view, index);
    return [state, state === State.partial ? indexReach(engine) : ''];
  };
  return engine.isReady ? String(indexes.all.map(reach)) : '';
}

async function buildAll(job: IndexBuild): Promise<void> {
  const { host, head, signal } = job;
  const { indexes, engine } = host;
  for (let part = FIRST_PART; ; part = Math.min(2 * part, LARGEST_PART)) {
    await turn();
    if (!engine.isReady) await host.recover();
    if (signal.aborted || !job.isBehind()) return;
    await makePart(job, part);
    indexes.tell(head);
    await report(job);
  }
}

async function makePart({ host, head, durability, signal }: IndexBuild, part: number) {
  const ingest = await Ingest.begin(host, head, durability, { signal, isUpkeep: true });
  const { leftovers } = head;
  const alone = leftovers.indexes;
  await abandonOnError(ingest, async () => {
    ingest.extendIndexes(alone, part);
    await ingest.commit();
  });
  if (alone) leftovers.indexes = false;
}

async function report({ host, head, onProgress }: IndexBuild): Promise<void> {
  if (onProgress === undefined) return;
  const { engine, indexes } = host;
  const held = await head.holdHead();
  try {
    const { view, rows: total } = held.head;
    let rows = total;
    for (const index of indexes.all) {
      const state = indexes.state(view, index);
      if (state === State.complete) continue;
      const op = startCount(engine, view, encodeRange({ lte: indexReach(engine) }));
      const made = state === State.none ? 0 : await host.read(op, () => readCountReply(engine));
      rows = Math.min(rows, made);
    }
    notify(onProgress, { rows, total });
  } finally {
    held.release();
  }
}
