/** Pulls: brings the rows of the server to its branch here, with the cookie and the ids, in one commit. */
import { HedgerowError } from '../../base/errors.js';
import { retryCommit } from '../../engine/history/retry-commit.js';
import type { Progress } from '../../engine/write/write-result.js';
import { takePatch } from '../link/apply-pull-patch.js';
import type { PullOptions } from '../link/connection-state.js';
import { badResponse, type PullBody } from '../wire/pull-response-body.js';
import { isBefore, isCookie, isSameCookie } from './compare-sync-cookies.js';
import { refusalOf } from './pull-refusal.js';
import { type EditQueue, freshRecord, type MutatorServerRecord } from './queue.js';
import { type RefusedCall, refusedCalls, refusedIn } from './rejections.js';
import { QueueMovedError, type ServerContext, unlessMoved } from './server-context.js';
import type { PendingCall, PullRequest } from './types.js';

/** The end of a pull: the server had news, had no news, or no longer knows this store, or another tab has pulled. */
export type PullOutcome = 'news' | 'nothing' | 'unknown-client' | 'moved';

/** Pulls once. It leaves everything as it was when it rejects. */
export async function pullServerRowsOnce(
  context: ServerContext,
  { signal, onProgress }: PullOptions<Progress>,
): Promise<PullOutcome> {
  const { shared, server, queue, wire, options, durability, maxPullBytes } = context;
  await shared.queueWork(async () => {
    await server.refresh();
    await queue.look();
  });
  const { record } = queue;
  const { clientGroupID, profileID, cookie } = record;
  const request: PullRequest = {
    ...{ pullVersion: 1, clientGroupID, cookie, profileID },
    schemaVersion: options.schemaVersion ?? '',
  };
  const answer = await wire.send('pull', request, signal);
  // Without a cookie there are no rows of the server here.
  const how = { clears: cookie === null, maxPullBytes, durability, signal, onProgress };
  return takePatch(server, answer, how, async (body, ingest) => {
    const read = readAnswer(body, record);
    if (typeof read === 'string') {
      await ingest.abandon();
      return read;
    }
    const edit: EditQueue = () => {
      const now = queue.record;
      if (now.pulls !== record.pulls || now.clientGroupID !== clientGroupID)
        throw new QueueMovedError();
      if (read.acknowledged > now.sent) {
        throw badResponse(`it acknowledges call ${read.acknowledged}, never sent`);
      }
      const { refused, ...known } = read;
      const rejects = refusedCalls(queue, refused);
      return { record: { ...now, ...known, pulls: now.pulls + 1, isFilled: true }, rejects };
    };
    try {
      await server.exclusively(async () => {
        // Only parts of indexes are committed to it during a pull: the patch goes on top of them.
        await server.refresh();
        return queue.together(server, edit, (partner) =>
          retryCommit(server, () => ingest.commitOnce({ partner })),
        );
      }, signal);
      return 'news';
    } catch (cause) {
      if (!(cause instanceof QueueMovedError)) throw cause;
      await ingest.abandon();
      return 'moved';
    }
  });
}

/** Reads the members of an answer besides its patch. */
function readAnswer(
  body: PullBody,
  record: MutatorServerRecord,
):
  | (Pick<MutatorServerRecord, 'cookie' | 'acknowledged'> & {
      readonly refused: readonly RefusedCall[];
    })
  | 'nothing'
  | 'unknown-client' {
  const refusal = refusalOf((name) => body.member(name));
  if (refusal instanceof HedgerowError) throw refusal;
  if (refusal !== undefined) return refusal;
  const cookie = body.member('cookie');
  const ids = body.member('lastMutationIDChanges');
  if (!isCookie(cookie)) throw badResponse('it sent no cookie');
  if (!body.hasPatch) throw badResponse('it sent no patch');
  const acknowledged = idOf(ids, record);
  const refused = refusedIn(body.member('refused'), record.clientID);
  if (refused.some(({ id }) => id > acknowledged)) {
    throw badResponse('it refuses calls that it does not acknowledge');
  }
  if (isBefore(cookie, record.cookie)) {
    throw new HedgerowError('rollback', 'the server sent an earlier cookie');
  }
  if (!isSameCookie(cookie, record.cookie)) return { cookie, acknowledged, refused };
  // By the rules of Replicache no other member counts then. The calls would never be acknowledged: so this throws.
  if (acknowledged === record.acknowledged) return 'nothing';
  throw badResponse('it acknowledges calls under the same cookie');
}

/** Returns the last id of this store that the server has acknowledged. */
function idOf(ids: unknown, { clientID, acknowledged }: MutatorServerRecord): number {
  const isObject = typeof ids === 'object' && ids !== null && !Array.isArray(ids);
  const all = isObject ? (ids as Record<string, number>) : {};
  if (!isObject || !Object.values(all).every((id) => Number.isSafeInteger(id) && id >= 0)) {
    throw badResponse('it sent no lastMutationIDChanges');
  }
  const id = Object.hasOwn(all, clientID) ? (all[clientID] as number) : acknowledged;
  if (id >= acknowledged) return id;
  throw new HedgerowError('rollback', `the server acknowledges ${id} calls, after ${acknowledged}`);
}

/**
 * Begins again with a server that no longer knows this store: as a new client, with all calls under new ids. Resolves
 * to the calls that it may have carried out before; to `undefined` if another tab was first.
 */
export async function startOver(
  { local, queue }: ServerContext,
  unknown: string,
): Promise<PendingCall[] | undefined> {
  return local.exclusively(async () => {
    await queue.look();
    const edit: EditQueue = () => {
      if (queue.record.clientGroupID !== unknown) throw new QueueMovedError();
      const puts = [...queue.waiting()].map((call, nth) => ({ ...call, id: nth + 1 }));
      const record = { ...freshRecord(queue.record), nextID: puts.length + 1 };
      // A server that no longer knows the calls decides again.
      const forgets = puts.filter(({ place }) => queue.rejection(place)).map(({ place }) => place);
      return { record, puts, drops: queue.listAcknowledgedPlaces(), forgets };
    };
    const isDone = await unlessMoved(queue.alone(edit).then(() => true as const));
    return isDone && queue.pending().filter(({ isSent }) => isSent);
  });
}
