/** Brings the rows of a head to the branch that follows the remote. */

import { sameBytes } from '../base/bytes.js';
import type { Head, Rows } from '../remote/format/head.js';
import { entriesSince } from '../remote/format/head-rules.js';
import type { SyncContext, SyncJob } from './context.js';
import { rowsOf } from './delta.js';
import { applyEntries, isSame, type Seen } from './entries.js';
import { landCheckpoint } from './land-checkpoint.js';
import { type PendingPush, type Remembered, stateMoves } from './state.js';

/**
 * Moves the branch of the remote to the rows of a head, with what is remembered of the remote. `false` if another tab
 * moved it meanwhile: then read the state again.
 */
export async function bringIn(context: SyncContext, now: Seen, job: SyncJob): Promise<boolean> {
  const accepted = await acceptOwn(context, now);
  if (accepted === undefined) return false;
  const { head } = now.seen;
  const base = await rowsOf(context.shared, accepted.origin);
  const entries = entriesSince(head, base.rootBytes);
  const next = { ...now, state: accepted };
  if (entries === undefined) return landCheckpoint(context, next, job);
  const outcome = await applyEntries(context, next, entries, job);
  return outcome === 'wrong-root' ? landCheckpoint(context, next, job) : outcome === 'applied';
}

/** The entry of the tail, or the head, that this push became: its number, and the rows before and after it. */
function ownStep(head: Head, { nonceBytes }: PendingPush): [Rows, Rows] | undefined {
  const nth = head.tail.findIndex((entry) => sameBytes(entry.nonceBytes, nonceBytes));
  const entry = head.tail[nth];
  if (entry !== undefined) return [head.tail[nth - 1]?.rows ?? head.base, entry.rows];
  // A checkpoint has no entry for what it pushed.
  return sameBytes(head.nonceBytes, nonceBytes) ? [head.rows, head.rows] : undefined;
}

/**
 * If a head has the push that nobody answered, both sides have had what it pushed: the next merge begins there. Resolves
 * to the state after that, or undefined if a ref moved.
 */
async function acceptOwn(
  { shared, refs, durability }: SyncContext,
  { state, seen }: Seen,
): Promise<Remembered | undefined> {
  const { pending } = state;
  const step = pending && ownStep(seen.head, pending);
  if (pending === undefined || step === undefined) return state;
  const { commitBytes } = pending;
  const rows = await rowsOf(shared, commitBytes);
  // Nobody moves it while a push is pending, but a store may be repaired or reset.
  if (!isSame(rows, step[1])) return state;
  const repositoryBytes = seen.head.repositoryBytes;
  const known = { seq: state.seq, hashBytes: state.seenBytes };
  const isMoved = await refs.move(
    {
      origin: commitBytes,
      fork: commitBytes,
      ...stateMoves(repositoryBytes, state.writerBytes, known),
    },
    durability,
  );
  if (!isMoved) return undefined;
  return { ...state, origin: commitBytes, fork: commitBytes, pending: undefined };
}
