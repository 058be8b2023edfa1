/** Reads the entries of a head, and refuses a head that does not continue the last seen one. */

import { sameBytes } from '../../base/bytes.js';
import {
  type HeadRecord,
  type RowTree,
  sameRows,
  type Tail,
} from '../remote/format/head-record.js';
import { entriesSince, logsSince } from '../remote/format/head-succession.js';
import { readRowsRoot } from './delta.js';
import type { HeadEntries, HeadUpdate } from './head-entries.js';
import { HeadObjects, type ObjectSource } from './head-objects.js';
import type { SyncContext, SyncJob } from './link-context.js';
import { areRowsAfter, type PendingPush, seenMoves, stateMoves } from './link-state.js';
import { histories } from './on-demand-link-code.js';

/** The state of a link. */
type LinkRefs = Pick<SyncContext, 'shared' | 'refs' | 'durability'>;

/** Reads the entries of a head. Resolves to `undefined` if another tab moved a ref first: then read the state again. */
export async function readEntries(
  context: ObjectSource & LinkRefs,
  update: HeadUpdate,
  { signal }: SyncJob,
): Promise<HeadEntries | undefined> {
  const objects = new HeadObjects(context, update.seen.head, signal);
  const tail = await tailFor(objects, update);
  const accepted = await acceptOwn(context, update, tail);
  if (accepted === undefined) return undefined;
  const { state, seen, base } = accepted;
  const entries = entriesSince(tail, base.rootBytes);
  const { push } = state;
  if (push !== undefined && !sameBytes(seen.hashBytes, state.seenBytes)) {
    // If the branch of the remote has wrong rows, they prove no continuation.
    const isAfter = entries !== undefined && areRowsAfter(push, base);
    if (!isAfter) await (await histories()).checkHasPush(objects, tail, push);
  }
  return { ...accepted, objects, entries, marks: seenMoves(state, seen) };
}

/** Reads the tail of a head, as far back as this device needs it: usually the head's own, without a request. */
async function tailFor(objects: HeadObjects, { state, base }: HeadUpdate): Promise<Tail> {
  const { head } = objects;
  const { seq, pending } = state;
  // The unanswered push would have that number.
  const hasPending = pending === undefined || logsSince(head, pending.seq - 1).length === 0;
  if (hasPending && entriesSince(head, base.rootBytes) !== undefined) return head;
  const isInLogs = seq + 1 >= (head.logs[0]?.seq ?? Number.POSITIVE_INFINITY);
  return isInLogs ? objects.tailSince(seq) : head;
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
 * Resolves to the update after that, or to `undefined` if a ref moved.
 */
async function acceptOwn(
  { shared, refs, durability }: LinkRefs,
  update: HeadUpdate,
  tail: Tail,
): Promise<HeadUpdate | undefined> {
  const { state, seen } = update;
  const { pending } = state;
  const own = pending && ownRows(seen.head, tail, pending);
  if (pending === undefined || own === undefined) return update;
  const { commitBytes } = pending;
  const base = await readRowsRoot(shared, commitBytes);
  // No tab moves `pushing` while a push is pending, but a store may be repaired or reset. Equal rows are a state that
  // both sides have had, by whichever device.
  if (!sameRows(base, own)) return update;
  const repositoryBytes = seen.head.repositoryBytes;
  const push = { seq: pending.seq, nonceBytes: pending.nonceBytes, rootBytes: own.rootBytes };
  const known = { seq: state.seq, hashBytes: state.seenBytes, epoch: state.epoch, push };
  const both = { origin: commitBytes, fork: commitBytes };
  const marks = stateMoves(repositoryBytes, state.writerBytes, known);
  if (!(await refs.move({ ...both, ...marks }, durability))) return undefined;
  return { seen, base, state: { ...state, ...both, pending: undefined, push } };
}
