/**
 * Proves that a head continues the last one that this device has seen. The store remembers the last push of that head.
 * The tail and the logs of a head have all pushes after its checkpoint; blocks of history list the earlier ones.
 */

import { HedgerowError, kindOfError } from '../../base/errors.js';
import { scopeInside } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import { MAX_BLOCK_PUSHES, MAX_BLOCKS } from '../remote/format/format-limits.js';
import {
  type BlockRecord,
  type HeadRecord,
  lastPush,
  type Push,
  type Tail,
} from '../remote/format/head-record.js';
import { encodeBlock, isPush } from '../remote/format/push-history-block.js';
import { HeadObjects } from './head-objects.js';
import type { SyncContext, SyncJob } from './link-context.js';

/** Rejects with `rollback` unless a head has a push, which `tail` may show. Usually costs no request, at most three. */
export async function checkHasPush(objects: HeadObjects, tail: Tail, push: Push): Promise<void> {
  const { head } = objects;
  const same = (one: Push) => isPush(one, push);
  const last = lastPush(head);
  if (tail.tail.some(same) || (last !== undefined && same(last))) return;
  const { checkpoint } = head;
  if (checkpoint.seq > 0 && same(checkpoint)) return;
  const pushes =
    push.seq > checkpoint.seq
      ? (await objects.tailSince(push.seq - 1)).tail
      : await pushesFrom(objects, push.seq);
  if (pushes.some(same)) return;
  const message = `the remote went back: its head number ${head.seq} does not have push ${push.seq}, which was seen`;
  throw new HedgerowError('rollback', message);
}

/** Reads the pushes of the block that lists the number `seq`; an empty list if there is no such block. */
async function pushesFrom(objects: HeadObjects, seq: number): Promise<readonly Push[]> {
  const record = objects.head.checkpoint.history.findLast((block) => block.seq <= seq);
  return record === undefined ? [] : objects.pushes(record);
}

/**
 * Puts the block that the checkpoint after `head` needs, with the pushes since the checkpoint before and `push` itself,
 * and returns all blocks. The new block takes in earlier ones that are at most twice as long: so blocks are few, and
 * each push is put again only a few times. Costs a request for each log, one for each block that is taken in, and one
 * for the new block.
 */
export async function extendHistory(
  context: SyncContext,
  head: HeadRecord,
  push: Push,
  job: SyncJob,
): Promise<readonly BlockRecord[]> {
  const { checkpoint } = head;
  const objects = new HeadObjects(context, head, job.signal);
  const { tail } = await objects.tailSince(checkpoint.seq);
  let pushes: readonly Push[] = [...tail.filter(({ seq }) => seq > checkpoint.seq), push];
  const blocks = checkpoint.history.slice();
  for (let last = blocks[blocks.length - 1]; last !== undefined; last = blocks[blocks.length - 1]) {
    const isShort = last.pushes <= 2 * pushes.length;
    if (!isShort || last.pushes + pushes.length > MAX_BLOCK_PUSHES) break;
    const before = await objects.pushes(last).catch(unlessWrongKey);
    if (before === undefined) break;
    pushes = [...before, ...pushes];
    blocks.pop();
  }
  return [...blocks, ...(await beginHistory(context, head, pushes, job))].slice(-MAX_BLOCKS);
}

/** Returns for `wrong-key`, and throws other errors: a block whose key this device lacks stays as it is. */
function unlessWrongKey(cause: unknown): undefined {
  if (kindOfError(cause) !== 'wrong-key') throw cause;
}

/** Puts a block that lists pushes, which begins a history. */
export async function beginHistory(
  { remote, tools, scope }: SyncContext,
  head: Pick<HeadRecord, 'epoch' | 'repositoryBytes'>,
  pushes: readonly Push[],
  { signal }: SyncJob,
): Promise<readonly BlockRecord[]> {
  const inside = scopeInside(scope, head);
  const { bytes, record } = await encodeBlock(pushes, tools.random(16), tools.hash, inside);
  await remote.put(objectPath('d', record.nameBytes), bytes, { signal });
  return [record];
}
