/** Pushes: sends the waiting calls, in their order. A pull shows whether they took effect. */
import { HedgerowError } from '../../base/errors.js';
import { utf8Length } from '../../base/key.js';
import type { HttpAnswer } from '../remote/adapters/http-exchange.js';
import { hasNoLine, isUnsent } from '../remote/was-request-sent.js';
import { isTooLarge } from '../wire/app-server-options.js';
import { badResponse, failureIn, PAGE } from '../wire/pull-response-body.js';
import { type PullRefusal, refusalOf } from './pull-refusal.js';
import type { EditQueue, QueuedCall } from './queue.js';
import { type RefusedCall, refusedCalls, refusedIn } from './rejections.js';
import { QueueMovedError, type ServerContext, unlessMoved } from './server-context.js';
import type { PushRequest } from './types.js';

/** The most calls of one request. */
const MAX_CALLS = 1000;
/** About how many bytes a call takes besides its stored form. */
const CALL_BYTES = 64;
/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 1 << 20;

/** A call that has not reached the server, which refuses it for its size. */
export interface TooLarge {
  readonly tooLarge: QueuedCall;
  readonly error: unknown;
}

/** Sends all waiting calls, in halves if the server refuses a request for its size. */
export async function pushAll(
  context: ServerContext,
  signal: AbortSignal | undefined,
): Promise<'pushed' | 'nothing' | 'unknown-client' | TooLarge> {
  const { shared, queue, wire, options } = context;
  await shared.queueWork(() => queue.look());
  const { clientGroupID, clientID, profileID } = queue.record;
  const isStill = () => queue.record.clientGroupID === clientGroupID;
  let upTo = 0;
  let atMost = MAX_CALLS;
  while (isStill()) {
    const { calls, takeBack } = await takeNext(context, upTo, atMost, isStill);
    const last = calls[calls.length - 1];
    if (last === undefined) break;
    const request: PushRequest = {
      ...{ pushVersion: 1, clientGroupID, profileID },
      schemaVersion: options.schemaVersion ?? '',
      mutations: calls.map(({ id, name, args, timestamp }) => {
        return { clientID, id, name, args, timestamp };
      }),
    };
    const isCutOff = hasNoLine();
    let answer: HttpAnswer;
    try {
      answer = await wire.send('push', request, signal);
    } catch (cause) {
      const mayHalve = isTooLarge(cause);
      // If that cannot be stored, they count as sent.
      if (mayHalve || isUnsent(cause, false, isCutOff && hasNoLine()))
        await takeBack().catch(() => {});
      if (!mayHalve) throw cause;
      if (calls.length === 1) return { tooLarge: last, error: cause };
      atMost = calls.length >> 1;
      continue;
    }
    const { refusal, refused } = await said(answer, clientID);
    if (refusal instanceof HedgerowError) throw refusal;
    if (refusal !== undefined) return refusal;
    if (refused.some(({ id }) => id > last.id)) throw badResponse('it refuses calls never sent');
    await noteRefused(context, refused, isStill);
    upTo = last.place;
  }
  return upTo === 0 ? 'nothing' : 'pushed';
}

/** Returns as many calls as one request takes, at least one. */
function nextOf(waiting: Iterable<QueuedCall>, maxCalls: number, maxBytes: number): QueuedCall[] {
  const calls: QueuedCall[] = [];
  let bytes = 0;
  for (const call of waiting) {
    bytes += utf8Length(JSON.stringify(call)) + CALL_BYTES;
    if (calls.length > 0 && (calls.length >= maxCalls || bytes > maxBytes)) break;
    calls.push(call);
  }
  return calls;
}

/**
 * Records that the next calls may reach the server, and resolves to them: from then on they keep their ids. `takeBack`
 * is for a request that has not left.
 */
async function takeNext(
  { local, queue, maxPushBytes }: ServerContext,
  upTo: number,
  atMost: number,
  isStill: () => boolean,
) {
  let calls: QueuedCall[] = [];
  let before = queue.record;
  const take: EditQueue = () => {
    before = queue.record;
    calls = isStill() ? nextOf(queue.waiting(upTo), atMost, maxPushBytes) : [];
    const { id, place } = calls[calls.length - 1] ?? { id: 0, place: 0 };
    const [sent, reached] = [Math.max(id, before.sent), Math.max(place, before.reached)];
    return { record: { ...before, sent, reached, pushes: before.pushes + 1 } };
  };
  const undo: EditQueue = () => {
    const { record } = queue;
    // Another tab may have sent them since.
    if (!isStill() || record.pushes !== before.pushes + 1) throw new QueueMovedError();
    return { record: { ...record, sent: before.sent, reached: before.reached } };
  };
  const change = (edit: EditQueue) =>
    local.exclusively(async () => {
      await queue.look();
      if (!queue.waiting(upTo).next().done) await queue.alone(edit);
    });
  await change(take);
  return { calls, takeBack: () => unlessMoved(change(undo)) };
}

/** Keeps the calls that the server refuses until a pull acknowledges them. */
async function noteRefused(
  { local, queue }: ServerContext,
  refused: readonly RefusedCall[],
  isStill: () => boolean,
): Promise<void> {
  if (refused.length === 0) return;
  const edit: EditQueue = () => {
    if (!isStill()) throw new QueueMovedError();
    return { record: queue.record, rejects: refusedCalls(queue, refused) };
  };
  await local.exclusively(async () => {
    await queue.look();
    await unlessMoved(queue.alone(edit));
  });
}

interface PushRefusals {
  readonly refusal: PullRefusal;
  readonly refused: readonly RefusedCall[];
}

/** Reads the answer of a push, which may be empty. */
async function said(answer: HttpAnswer, clientID: string): Promise<PushRefusals> {
  const bytes = await answer.bytes(MAX_ANSWER_BYTES);
  let members: unknown;
  try {
    members = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    const isPage = bytes[0] === 0x3c;
    return { refusal: isPage ? badResponse(PAGE, cause) : undefined, refused: [] };
  }
  const named = Object(members) as Record<string, unknown>;
  const refusal = refusalOf((name) => named[name]) ?? failureIn(named);
  return { refusal, refused: refusedIn(named.refused, clientID) };
}
