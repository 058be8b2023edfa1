/** Counts the requests and bytes between a store and its remote. */

import type { Remote, RemoteHead, RemoteOptions } from '../remote/remote.js';
import { hasNoLine, isUnsent } from '../remote/was-request-sent.js';

export interface Traffic {
  /**
   * Calls of the remote that were answered, or may have been sent; they count when they end. Each is one request, but
   * for lost swaps (2) and lists.
   */
  requests: number;
  /** Bytes of bodies. A call that failed on its way counts with all that it had to send. */
  sentBytes: number;
  /** Bytes of answers that came whole. */
  receivedBytes: number;
}

/** Wraps a remote, and counts its calls in `traffic`. */
export function meterRemote(remote: Remote, traffic: Traffic): Remote {
  const countCall = async <T>(
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
    readHead: (branch, options) => countCall(remote.readHead(branch, options), options, 0, ofHead),
    readHeadSince: (branch, token, options) =>
      countCall(remote.readHeadSince(branch, token, options), options, 0, ofHead),
    swapHead: (branch, token, bytes, options) =>
      countCall(remote.swapHead(branch, token, bytes, options), options, bytes.length, (swap) =>
        swap.state === 'lost' ? ofHead(swap.head) : 0,
      ),
    get: (name, range, options) =>
      countCall(remote.get(name, range, options), options, 0, (bytes) => bytes?.length ?? 0),
    put: (name, bytes, options) =>
      countCall(remote.put(name, bytes, options), options, bytes.length),
    remove: (names, options) => countCall(remote.remove(names, options), options),
    list: (prefix, options) => countCall(remote.list(prefix, options), options),
  };
}
