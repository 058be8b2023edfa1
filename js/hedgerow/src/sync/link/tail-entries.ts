/** The entries of a head's tail: fetched if they are objects, and applied to the branch of the remote. */

import { sameBytes } from '../../base/bytes.js';
import { decodeDeltaBody } from '../remote/format/delta-body.js';
import { decodeDeltaObject } from '../remote/format/delta-object.js';
import {
  checkpointRows,
  type HeadRecord,
  lastPush,
  type TailEntry,
} from '../remote/format/head-record.js';
import { type Scope, scopeInside } from '../remote/format/suite.js';
import type { SyncContext, SyncJob } from './context.js';
import { applyDeltas, type DeltaBytes } from './delta.js';
import { fetchObject } from './fetch-object.js';
import type { HeadUpdate } from './heads.js';
import { type Moves, type SeenPush, stateMoves } from './link-state.js';

export type { HeadUpdate };

/** Returns the moves that record a seen head. A push that is in it, or has lost against it, is no longer pending. */
export function seenMoves({ state, seen }: HeadUpdate): Moves {
  const { repositoryBytes, seq, epoch } = seen.head;
  const isOpen = state.pending !== undefined && state.pending.seq > seq;
  const push = seenPush(seen.head) ?? state.push;
  const at = { seq, hashBytes: seen.hashBytes, epoch, push };
  return stateMoves(repositoryBytes, state.writerBytes, at, isOpen ? state.pending : undefined);
}

/** Returns the last push of a head, as the store remembers it. */
export function seenPush(head: HeadRecord): SeenPush | undefined {
  const push = lastPush(head);
  return push && { seq: push.seq, nonceBytes: push.nonceBytes, rootBytes: head.rows.rootBytes };
}

/** Applies entries of the tail to the branch of the remote, in one commit, or two if the checkpoint is between them. */
export async function applyEntries(
  context: SyncContext,
  now: HeadUpdate,
  entries: readonly TailEntry[],
  job: SyncJob,
): Promise<'applied' | 'wrong-root' | 'moved'> {
  const { refs, durability } = context;
  const scope = scopeInside(context.scope, now.seen.head);
  const checkpoint = checkpointRows(now.seen.head.checkpoint);
  // The next checkpoint has the changes since this one, so its commit is kept.
  const upTo = entries.findIndex(({ rows }) => sameBytes(rows.rootBytes, checkpoint.rootBytes));
  let { origin } = now.state;
  for (const part of [entries.slice(0, upTo + 1), entries.slice(upTo + 1)]) {
    const last = part[part.length - 1];
    if (last === undefined) continue;
    const also = last === entries[entries.length - 1] ? seenMoves(now) : {};
    const moves = refs.moves(also);
    const applied = await applyDeltas(context.origin, {
      deltas: deltasOf(context, part, scope, job),
      after: last.rows,
      onto: origin,
      durability,
      also: moves,
      signal: job.signal,
    });
    if (applied.outcome !== 'applied') return applied.outcome;
    origin = applied.commitBytes;
    refs.recordMoves(moves);
    await refs.look();
    const isCheckpoint = sameBytes(last.rows.rootBytes, checkpoint.rootBytes);
    if (isCheckpoint && !(await refs.move({ checkpoint: origin }, durability))) return 'moved';
  }
  if (entries.length > 0) return 'applied';
  return (await refs.move(seenMoves(now), durability)) ? 'applied' : 'moved';
}

/**
 * Yields the edits of entries. Each delta is fetched and inflated after the one before it was applied: a few bytes at
 * the remote may inflate to 16 MiB, so only one delta may be in memory.
 */
export async function* deltasOf(
  context: SyncContext,
  entries: readonly TailEntry[],
  scope: Scope,
  job: SyncJob,
): AsyncGenerator<DeltaBytes, void, void> {
  for (const entry of entries) yield await deltaOf(context, entry, scope, job);
}

/** Reads the edits of an entry. Costs a request if they are a separate object. */
export async function deltaOf(
  context: SyncContext,
  { delta }: TailEntry,
  scope: Scope,
  job: SyncJob,
): Promise<DeltaBytes> {
  const { inflate } = context.tools;
  if (delta.kind === 'inline') return decodeDeltaBody(delta.deltaBytes, inflate);
  const bytes = await fetchObject(context, ['d', 'delta'], delta, job);
  return decodeDeltaBody(await decodeDeltaObject(bytes, scope), inflate);
}
