/** Makes checkpoints: packs of the rows that a reader without the tail needs. */

import { turn } from '../base/scheduler.js';
import { EMPTY_COMMIT } from '../history/inventory.js';
import type { RowFrame } from '../remote/format/directory.js';
import type { Generation, PackRecord, Rows } from '../remote/format/head.js';
import { checkpointRows, packsOf, sameRows } from '../remote/format/head.js';
import { FRAME_BYTES, MAX_PLAIN_DELTA_BYTES } from '../remote/format/limits.js';
import { pathOf } from '../remote/format/names.js';
import { encodeFrames } from '../remote/format/pack.js';
import type { SyncContext, SyncJob } from './context.js';
import { type Delta, makeDeltas, rowsOf } from './delta.js';
import type { SeenHead } from './heads.js';
import type { Remembered } from './state.js';
import { firstKeyOf, writeDirectory } from './write-directory.js';

/** Uploads at once. */
const AT_ONCE = 4;
/** Most generations: a reader who was away finds the rows that it has in one of them. */
const MAX_GENERATIONS = 16;
/** The same for a device that is only partly a clone. */
const MOST_OF_PARTLY = 48;
/** Most packs of a head, which take a third of it. */
const MAX_PACKS = 512;

/**
 * Writes the packs of a checkpoint at a commit, whose rows are not empty, and returns its generations: those before and a
 * new one, of what has changed since; or one alone of all rows, when the new ones are as long as the first, or too many.
 */
export async function makeCheckpoint(
  context: SyncContext,
  seen: SeenHead | undefined,
  { checkpoint: commit }: Pick<Remembered, 'checkpoint'>,
  to: { readonly commitBytes: Uint8Array; readonly rows: Rows; readonly seq: number },
  job: SyncJob,
): Promise<Generation[]> {
  const before = seen?.head.checkpoint ?? { seq: 0, generations: [] };
  const { seq, rows } = to;
  if (commit !== undefined && before.generations.length > 0 && commit.some(Boolean)) {
    const isKnown = sameRows(await rowsOf(context.shared, commit), checkpointRows(before));
    // Who does not have all rows would have to fetch them, to write them anew: another device does that.
    const isPartly = context.land !== undefined && before.generations.length < MOST_OF_PARTLY;
    if (isKnown && (isPartly || hasRoom(before.generations))) {
      const packs = await writePacks(context, commit, to.commitBytes, job);
      return packs.length === 0
        ? before.generations.slice()
        : [...before.generations, { seq, rows, packs }];
    }
  }
  return [{ seq, rows, packs: await writePacks(context, EMPTY_COMMIT, to.commitBytes, job) }];
}

/** Whether another generation costs a clone less than it saves. */
function hasRoom(generations: readonly Generation[]): boolean {
  const lengthOf = (packs: readonly PackRecord[]) =>
    packs.reduce((sum, { length }) => sum + length, 0);
  const [first, ...later] = generations.map(({ packs }) => lengthOf(packs));
  const added = later.reduce((sum, length) => sum + length, 0);
  const packs = packsOf({ seq: 0, generations }).length;
  return generations.length < MAX_GENERATIONS && packs < MAX_PACKS && added < (first ?? 0);
}

/** Makes and puts the packs that lead from one commit to another, and what a reader needs that wants only parts of them. */
async function writePacks(
  context: SyncContext,
  from: Uint8Array,
  to: Uint8Array,
  job: SyncJob,
): Promise<PackRecord[]> {
  const { shared, remote, tools } = context;
  const { signal } = job;
  const records: PackRecord[] = [];
  const frames: RowFrame[][] = [];
  const under = new Set<Promise<void>>();
  let [packs, bytes] = [0, 0];
  let failure: unknown;
  const cutBytes = Math.min(FRAME_BYTES, tools.packBytes);
  const limits = { cutBytes, maxBytes: MAX_PLAIN_DELTA_BYTES, signal };
  // Platforms deflate beside the page: several at once, as they are put.
  const put = async (group: Group, nth: number): Promise<void> => {
    const pack = await encodeFrames('pack', group.deltas, tools.random(16), tools.deflate);
    // To seal a long one has taken a slice.
    await turn();
    const nameBytes = tools.hash(pack.bytes);
    records[nth] = { nameBytes, length: pack.bytes.length, edits: group.edits };
    frames[nth] = pack.lengths.map((length, at) => {
      return { length, firstKey: firstKeyOf(group.deltas[at] as Uint8Array) };
    });
    await remote.put(pathOf('p', nameBytes), pack.bytes, { signal });
    packs += 1;
    bytes += pack.bytes.length;
    job.onProgress?.({ phase: 'packs-out', packs, allPacks: undefined, bytes });
  };
  let count = 0;
  for await (const group of groups(makeDeltas(shared, from, to, limits), tools.packBytes)) {
    const work: Promise<void> = put(group, count++)
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
  return [...records, ...(await writeDirectory(context, from, to, frames, job))];
}

/** Deltas that make a pack, each a frame of it. */
interface Group {
  readonly deltas: Uint8Array[];
  edits: number;
}

/** Groups deltas: a pack has `most` bytes before it is deflated, unless a single one is longer. */
async function* groups(
  deltas: AsyncIterable<Omit<Delta, 'after'>>,
  most: number,
): AsyncGenerator<Group, void, void> {
  let group: Group = { deltas: [], edits: 0 };
  let bytes = 0;
  for await (const { deltaBytes, edits } of deltas) {
    if (bytes > 0 && bytes + deltaBytes.length > most) {
      yield group;
      group = { deltas: [], edits: 0 };
      bytes = 0;
    }
    group.deltas.push(deltaBytes);
    group.edits += edits;
    bytes += deltaBytes.length;
  }
  if (bytes > 0) yield group;
}
