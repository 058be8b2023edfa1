/** Counts what travels between a store and its remote. */

import type { HedgerowError } from '../base/errors.js';
import type { Remote, RemoteHead, RemoteOptions } from '../remote/remote.js';

export interface Traffic {
  /**
   * Calls of the remote that were answered, or may have been sent; they count when they end. Each is one request, but for
   * lost swaps (2) and lists.
   */
  requests: number;
  /** Bytes of bodies. Of a call that failed on its way all that it had to send. */
  sentBytes: number;
  /** Those of answers that came whole. */
  receivedBytes: number;
}

/** The remote, whose calls are counted in `traffic`. */
export function metered(remote: Remote, traffic: Traffic): Remote {
  const counted = async <T>(
    call: Promise<T>,
    { signal }: RemoteOptions = {},
    sentBytes = 0,
    lengthOf: (answer: T) => number = () => 0,
  ): Promise<T> => {
    const [isLate, isCutOff] = [signal?.aborted === true, hasNoLine()];
    const count = (receivedBytes: number) => {
      traffic.requests += 1;
      traffic.sentBytes += sentBytes;
      traffic.receivedBytes += receivedBytes;
    };
    const countFailed = (cause: unknown) => {
      const hadNoLine = isCutOff && hasNoLine();
      if (!isUnsent(cause, isLate, hadNoLine)) count(0);
    };
    let answer: T;
    try {
      answer = await call;
    } catch (cause) {
      countFailed(cause);
      throw cause;
    }
    const { state, cause } = Object(answer) as { state?: unknown; cause?: unknown };
    if (state === 'unknown') countFailed(cause);
    else count(lengthOf(answer));
    return answer;
  };
  const ofHead = (head: RemoteHead | 'unchanged' | undefined) =>
    typeof head === 'object' ? head.bytes.length : 0;
  return {
    readHead: (branch, options) => counted(remote.readHead(branch, options), options, 0, ofHead),
    readHeadSince: (branch, token, options) =>
      counted(remote.readHeadSince(branch, token, options), options, 0, ofHead),
    swapHead: (branch, token, bytes, options) =>
      counted(remote.swapHead(branch, token, bytes, options), options, bytes.length, (swap) =>
        swap.state === 'lost' ? ofHead(swap.head) : 0,
      ),
    get: (name, range, options) =>
      counted(remote.get(name, range, options), options, 0, (bytes) => bytes?.length ?? 0),
    put: (name, bytes, options) => counted(remote.put(name, bytes, options), options, bytes.length),
    remove: (names, options) => counted(remote.remove(names, options), options),
    list: (prefix, options) => counted(remote.list(prefix, options), options),
  };
}

/** Whether a page is told that its device has no network. */
function hasNoLine(): boolean {
  return (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false;
}

/** Whether a call that failed has surely sent nothing. What nobody knows may have been sent. */
function isUnsent(failure: unknown, wasAborted: boolean, hadNoLine: boolean): boolean {
  const { code, isSent, cause } = Object(failure) as Partial<HedgerowError>;
  if (code === 'invalid-argument') return true;
  if (code === 'aborted') return wasAborted;
  if (code !== 'offline') return false;
  return isSent === false || hadNoLine || isUnconnected(Object(cause).cause);
}

/** Whether no connection was made, by what `fetch` of Node tells. Pages are not told. */
function isUnconnected(cause: unknown): boolean {
  const { code, syscall, errors } = Object(cause) as Record<string, unknown>;
  // Of each address that was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnconnected);
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
