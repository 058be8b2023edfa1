/** Makes checkpoints: packs of the rows that a reader without the tail needs. */

import { turn } from '../../base/slice-queue.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { type Scope, scopeInside } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import { firstKeyOf } from '../remote/format/first-key-of-delta.js';
import { FRAME_BYTES, MAX_FRAMES, MAX_PLAIN_DELTA_BYTES } from '../remote/format/format-limits.js';
import type { HeadRecord, Layer, PackRecord, RowTree } from '../remote/format/head-record.js';
import { checkpointRows, packsOf, sameRows } from '../remote/format/head-record.js';
import type { RowFrames } from '../remote/format/layer-directory.js';
import { encodeFrames } from '../remote/format/pack-write.js';
import { type MadeDelta, makeDeltas, readRowsRoot } from './delta.js';
import type { SyncContext, SyncJob } from './link-context.js';
import type { LinkState } from './link-state.js';
import { writeDirectory } from './write-layer-directory.js';

/** Uploads at the same time. */
const AT_ONCE = 4;
/** Most layers: a reader that was away finds its rows in one of them. */
const MAX_LAYERS = 16;
/** Most layers before a lazy clone makes one of all rows. */
const MOST_OF_PARTLY = 48;
/** Most packs of a head: they take a third of it. */
const MAX_PACKS = 512;

/**
 * Writes the packs of a checkpoint at a commit that has rows, and returns its layers: the earlier ones, and a new
 * one with the changes since. Returns a single one of all rows if the later ones are as long as the first, or too many.
 */
export async function makeCheckpoint(
  context: SyncContext,
  head: Pick<HeadRecord, 'checkpoint' | 'epoch' | 'repositoryBytes'>,
  { checkpoint: commit }: Pick<LinkState, 'checkpoint'>,
  to: { readonly commitBytes: Uint8Array; readonly rows: RowTree; readonly seq: number },
  job: SyncJob,
): Promise<Layer[]> {
  const before = head.checkpoint;
  const scope = scopeInside(context.scope, head);
  const { seq, rows } = to;
  if (commit !== undefined && before.layers.length > 0 && commit.some(Boolean)) {
    const isKnown = sameRows(await readRowsRoot(context.shared, commit), checkpointRows(before));
    // A lazy clone would have to fetch all rows to write them again: another device does that.
    const isPartly = context.replica.isPartial && before.layers.length < MOST_OF_PARTLY;
    if (isKnown && (isPartly || hasSpace(before.layers))) {
      const packs = await writePacks(context, commit, to.commitBytes, scope, job);
      return packs.length === 0 ? before.layers.slice() : [...before.layers, { seq, rows, packs }];
    }
  }
  const packs = await writePacks(context, EMPTY_COMMIT, to.commitBytes, scope, job);
  return [{ seq, rows, packs }];
}

/** Returns whether another layer costs a clone less than it saves. */
function hasSpace(layers: readonly Layer[]): boolean {
  const lengthOf = (packs: readonly PackRecord[]) =>
    packs.reduce((sum, { length }) => sum + length, 0);
  const [first, ...later] = layers.map(({ packs }) => lengthOf(packs));
  const added = later.reduce((sum, length) => sum + length, 0);
  const packs = packsOf({ layers }).length;
  return layers.length < MAX_LAYERS && packs < MAX_PACKS && added < (first ?? 0);
}

/** Makes and puts the packs that lead from one commit to another, and the directory for readers of parts of them. */
async function writePacks(
  context: SyncContext,
  from: Uint8Array,
  to: Uint8Array,
  scope: Scope,
  job: SyncJob,
): Promise<PackRecord[]> {
  const { shared, remote, tools } = context;
  const { signal } = job;
  const records: PackRecord[] = [];
  const frames: RowFrames[] = [];
  const under = new Set<Promise<void>>();
  let [packs, bytes] = [0, 0];
  let failure: unknown;
  const cutBytes = Math.min(tools.packBytes, FRAME_BYTES);
  const limits = { cutBytes, maxBytes: MAX_PLAIN_DELTA_BYTES, signal };
  // Several packs are deflated and put at once: zlib works in other threads, and uploads wait.
  const put = async ({ deltas, edits }: PackDeltas, nth: number): Promise<void> => {
    const pack = await encodeFrames('pack', deltas, tools.random(16), tools.deflate, scope);
    // Sealing a long pack has taken a slice.
    await turn();
    const nameBytes = tools.hash(pack.bytes);
    records[nth] = { nameBytes, length: pack.bytes.length, edits };
    frames[nth] = { ...pack.front, firstKeys: deltas.map(firstKeyOf) };
    await remote.put(objectPath('p', nameBytes), pack.bytes, { signal });
    packs += 1;
    bytes += pack.bytes.length;
    job.onProgress?.({ phase: 'packs-out', packs, allPacks: undefined, bytes });
  };
  let count = 0;
  for await (const pack of gatherPacks(makeDeltas(shared, from, to, limits), tools.packBytes)) {
    const work: Promise<void> = put(pack, count++)
      .catch((cause: unknown) => {
        failure ??= cause;
      })
      .finally(() => under.delete(work));
    under.add(work);
    if (under.size >= AT_ONCE) await Promise.race(under);
    if (failure !== undefined) break;
  }
  await Promise.all(under);
  if (failure !== undefined) throw failure;
  if (records.length === 0) return records;
  return [...records, ...(await writeDirectory(context, { from, to, packs: frames, scope }, job))];
}

/** The deltas of a pack. */
interface PackDeltas {
  /** One for each frame. */
  readonly deltas: readonly Uint8Array[];
  readonly edits: number;
}

/** Gathers deltas until they have the length of a pack. */
async function* gatherPacks(
  deltas: AsyncIterable<Pick<MadeDelta, 'deltaBytes' | 'edits'>>,
  packBytes: number,
): AsyncGenerator<PackDeltas, void, void> {
  let [frames, edits, bytes]: [Uint8Array[], number, number] = [[], 0, 0];
  const take = () => {
    const pack = { deltas: frames, edits };
    [frames, edits, bytes] = [[], 0, 0];
    return pack;
  };
  for await (const one of deltas) {
    const { length } = one.deltaBytes;
    // A long row has a pack of its own: with others it might not fit.
    if (frames.length > 0 && bytes + length > 2 * packBytes) yield take();
    frames.push(one.deltaBytes);
    edits += one.edits;
    bytes += length;
    if (bytes >= packBytes || frames.length === MAX_FRAMES) yield take();
  }
  if (frames.length > 0) yield take();
}
