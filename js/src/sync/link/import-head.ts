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
 * Moves the branch of the remote to the rows of a head, with what is remembered of the remote. Resolves to the rows of
 * the local branch that changed with it; to undefined if another tab moved it meanwhile: then read the state again.
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
 * Rejects with `rollback` unless a head continues the one that was seen last: it is that head, its entries lead on from the
 * rows that it had, or it has its last push.
 */
async function checkContinues(
  context: SyncContext,
  { state, seen }: HeadUpdate,
  found: { readonly tail: Tail; readonly base: RowTree; readonly isBaseKnown: boolean },
  job: SyncJob,
): Promise<void> {
  const { push } = state;
  if (push === undefined || sameBytes(seen.hashBytes, state.seenBytes)) return;
  // The branch of the remote may have other rows than it should: then they show nothing.
  if (found.isBaseKnown && areRowsAfter(push, found.base)) return;
  await (await histories()).checkHasPush(context, seen.head, found.tail, push, job);
}

/**
 * The rows after the entry of the tail, of the head, or of the generation of a checkpoint, that this push became. A
 * checkpoint may have no entry for its push; a generation has no nonce, so it may be another one's of that number.
 */
function ownRows(
  head: HeadRecord,
  { tail }: Tail,
  { nonceBytes, seq }: PendingPush,
): RowTree | undefined {
  const entry = tail.find((one) => sameBytes(one.nonceBytes, nonceBytes));
  if (entry !== undefined) return entry.rows;
  if (sameBytes(head.nonceBytes, nonceBytes)) return head.rows;
  return head.checkpoint.generations.find((one) => one.seq === seq)?.rows;
}

/**
 * If a head has the push that nobody answered, both sides have had what it pushed: the next merge begins there. Resolves
 * to the state after that, or undefined if a ref moved.
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
  // Nobody moves it while a push is pending, but a store may be repaired or reset. Equal rows are a state that both sides have
  // had, whoever made it.
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
