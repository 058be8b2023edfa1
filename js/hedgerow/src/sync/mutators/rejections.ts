/** Keeps calls without an effect in the queue's branch until the app dismisses them: no crash loses one. */
import { HedgerowError } from '../../base/errors.js';
import { badResponse } from '../wire/pull-response-body.js';
import { copyOf, type Queue, type QueuedCall, type StoredRejection } from './queue.js';
import type { RejectedCall } from './types.js';

/** A call that the server has refused, by its id. */
export interface RefusedCall {
  readonly id: number;
  readonly why: unknown;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Makes the stored form of a call that failed here. */
export function failedHere(queue: Queue, call: QueuedCall, error: unknown): StoredRejection {
  const { clientID, reached } = queue.record;
  return { call, clientID, isSent: call.place <= reached, message: messageOf(error) };
}

/** Reads the calls of this client that an answer refuses. */
export function refusedIn(refused: unknown, clientID: string): RefusedCall[] {
  if (refused === undefined) return [];
  const isRefused = (one: unknown): boolean => {
    const { clientID, id } = Object(one) as Record<string, unknown>;
    return typeof clientID === 'string' && Number.isSafeInteger(id);
  };
  if (!Array.isArray(refused) || !refused.every(isRefused)) {
    throw badResponse('its refused is no array of { clientID, id, why }');
  }
  return refused
    .filter((one) => one.clientID === clientID)
    .map(({ id, why = null }) => ({ id, why }));
}

/** Makes the stored form of refused calls of the queue, without calls that are stored, or were acknowledged before. */
export function refusedCalls(queue: Queue, refused: readonly RefusedCall[]): StoredRejection[] {
  if (refused.length === 0) return [];
  const { clientID } = queue.record;
  const reasons = new Map(refused.map(({ id, why }) => [id, why]));
  return [...queue.waiting()]
    .filter(({ id, place }) => reasons.has(id) && queue.rejection(place) === undefined)
    .map((call) => {
      const why = reasons.get(call.id);
      const text = typeof why === 'string' ? why : JSON.stringify(why);
      const message = `the server refuses ${call.name}${why === null ? '' : `: ${text}`}`;
      return { call, clientID, isSent: true, message, why };
    });
}

/** Makes the rejection that an app sees, with the error itself if it occurred in this session. */
export function toRejectedCall(stored: StoredRejection, error: unknown): RejectedCall {
  const { call, clientID, isSent, message, why } = stored;
  const isRefused = why !== undefined;
  return {
    ...{ ...call, args: copyOf(call.args), clientID, isSent, isPending: false },
    error: error ?? (isRefused ? new HedgerowError('remote/status', message) : new Error(message)),
    ...(isRefused && { why }),
  };
}
