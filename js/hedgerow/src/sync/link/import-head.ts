/** Brings the rows of a head to the branch that follows the remote. */

import { sameBytes } from '../../base/bytes.js';
import {
  type HeadRecord,
  type RowTree,
  sameRows,
  type Tail,
} from '../remote/format/head-record.js';
import { entriesSince } from '../remote/format/head-rules.js';
import type { SyncContext, SyncJob } from './context.js';
import { readRowsRoot } from './delta.js';
import { forward } from './forward.js';
import { landCheckpoint } from './land-checkpoint.js';
import { histories } from './link-parts.js';
import { areRowsAfter, type LinkState, type PendingPush, stateMoves } from './link-state.js';
import { tailFor } from './logs.js';
import { applyEntries, type HeadUpdate } from './tail-entries.js';

/**
 * Moves the branch of the remote to the rows of a head, together with the state of the link. Resolves to the number of
 * local rows that changed with it; to `undefined` if another tab moved a ref first: then read the state again.
 */
export async function importHead(
  context: SyncContext,
  now: HeadUpdate,
  job: SyncJob,
): Promise<number | undefined> {
  const tail = await tailFor(context, now, job);
  const accepted = await acceptOwn(context, now, tail);
  if (accepted === undefined) return undefined;
  const base = await readRowsRoot(context.shared, accepted.origin);
  const entries = entriesSince(tail, base.rootBytes);
  const next = { ...now, state: accepted };
  await checkContinues(context, next, { tail, base, isBaseKnown: entries !== undefined }, job);
  const [only, ...more] = entries ?? [];
  if (only !== undefined && more.length === 0) {
    const applied = await forward(context, next, only, job);
    if (applied !== undefined) return applied;
  }
  const outcome = entries && (await applyEntries(context, next, entries, job));
  const isDone =
    outcome === undefined || outcome === 'wrong-root'
      ? await (context.land?.(next, job) ?? landCheckpoint(context, next, job))
      : outcome === 'applied';
  return isDone ? 0 : undefined;
}

/**
 * Rejects with `rollback` unless a head continues the last seen one: it is the same head, its entries lead on from the
 * rows of that head, or it has the last push of that head.
 */
async function checkContinues(
  context: SyncContext,
  { state, seen }: HeadUpdate,
  found: { readonly tail: Tail; readonly base: RowTree; readonly isBaseKnown: boolean },
  job: SyncJob,
): Promise<void> {
  const { push } = state;
  if (push === undefined || sameBytes(seen.hashBytes, state.seenBytes)) return;
  // If the branch of the remote has wrong rows, they prove no continuation.
  if (found.isBaseKnown && areRowsAfter(push, found.base)) return;
  await (await histories()).checkHasPush(context, seen.head, found.tail, push, job);
}

/**
 * Finds the rows after this push: in its entry of the tail, in the head, or in a layer of the checkpoint. A
 * checkpoint may have no entry for its push. A layer has no nonce, so it may be another device's of that number.
 */
function ownRows(
  head: HeadRecord,
  { tail }: Tail,
  { nonceBytes, seq }: PendingPush,
): RowTree | undefined {
  const entry = tail.find((one) => sameBytes(one.nonceBytes, nonceBytes));
  if (entry !== undefined) return entry.rows;
  if (sameBytes(head.nonceBytes, nonceBytes)) return head.rows;
  return head.checkpoint.layers.find((one) => one.seq === seq)?.rows;
}

/**
 * Accepts the unanswered push if the head has it: both sides have had its rows, so the next merge begins there.
 * Resolves to the state after that, or to `undefined` if a ref moved.
 */
async function acceptOwn(
  { shared, refs, durability }: SyncContext,
  { state, seen }: HeadUpdate,
  tail: Tail,
): Promise<LinkState | undefined> {
  const { pending } = state;
  const own = pending && ownRows(seen.head, tail, pending);
  if (pending === undefined || own === undefined) return state;
  const { commitBytes } = pending;
  const rows = await readRowsRoot(shared, commitBytes);
  // No tab moves `pushing` while a push is pending, but a store may be repaired or reset. Equal rows are a state that
  // both sides have had, by whichever device.
  if (!sameRows(rows, own)) return state;
  const repositoryBytes = seen.head.repositoryBytes;
  const push = { seq: pending.seq, nonceBytes: pending.nonceBytes, rootBytes: own.rootBytes };
  const known = { seq: state.seq, hashBytes: state.seenBytes, epoch: state.epoch, push };
  const isMoved = await refs.move(
    {
      origin: commitBytes,
      fork: commitBytes,
      ...stateMoves(repositoryBytes, state.writerBytes, known),
    },
    durability,
  );
  if (!isMoved) return undefined;
  return { ...state, origin: commitBytes, fork: commitBytes, pending: undefined, push };
}
