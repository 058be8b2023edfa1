/** Calls the functions of the app that give a part of a request: `token`, `sign`, `credentials`, `keys` and `auth`. */

import { until } from '../../base/abort-signal.js';
import { HedgerowError } from '../../base/errors.js';
import { MAX_STALL_MS } from '../../base/limits.js';
import { within } from '../../base/timeout.js';

/** The messages of `fetch` without an answer, in browsers, Node, Bun, Deno and React Native. */
const FETCH_FAILED =
  /^(failed to fetch|fetch failed|load failed|network request failed|networkerror|network error|a network error|network connection lost|the internet connection appears|terminated|error sending request|unable to connect)/i;
/** Codes of Node's sockets, of its `fetch`, and of axios. */
const NETWORK_CODE =
  /^(ERR_NETWORK|UND_ERR_|E(CONN[A-Z]+|TIMEDOUT|AI_AGAIN|NOTFOUND|PIPE|HOST[A-Z]+|NET[A-Z]+)$)/;
const NETWORK_NAME = /^(Abort|Timeout|Network)Error$/;

/** Returns whether an error means that the network has failed. */
export function isOfNetwork(thrown: unknown): boolean {
  const { name, code, message, cause } = Object(thrown) as Record<string, unknown>;
  if (NETWORK_NAME.test(String(name))) return true;
  if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
  return name === 'TypeError' && (cause !== undefined || FETCH_FAILED.test(String(message)));
}

/**
 * Calls a function of the app; `what` is its name. Passes on a `HedgerowError`. Otherwise rejects with `offline` if the
 * network has failed, or no answer came for 30 s, and else with `unauthorized`: the request was not sent.
 */
export async function askApp<T>(
  what: string,
  ask: () => T | PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    const answer = (async () => ({ value: await ask() }))();
    const got = await until(within(MAX_STALL_MS, answer), signal);
    if (got !== undefined) return got.value;
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    if (isOfNetwork(cause)) throw unsent(`${what} failed: ${String(cause)}`, cause);
    throw new HedgerowError('unauthorized', `${what} failed: ${String(cause)}`, { cause });
  }
  throw unsent(`${what} gave no answer for ${MAX_STALL_MS / 1000} s`);
}

const unsent = (what: string, cause?: unknown) =>
  new HedgerowError('offline', what, { cause, isSent: false });
