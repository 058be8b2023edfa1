/** Counts what travels between a store and its remote. */

import type { Remote, RemoteHead } from '../remote/remote.js';

export interface Traffic {
  /** Calls of the remote; each is one request, but for lost swaps (2) and lists. */
  requests: number;
  /** Bytes of bodies. */
  sentBytes: number;
  receivedBytes: number;
}

/** The remote, whose calls are counted in `traffic`. */
export function metered(remote: Remote, traffic: Traffic): Remote {
  const counted = async <T>(
    call: Promise<T>,
    sentBytes: number,
    lengthOf: (answer: T) => number = () => 0,
  ): Promise<T> => {
    traffic.requests += 1;
    traffic.sentBytes += sentBytes;
    const answer = await call;
    traffic.receivedBytes += lengthOf(answer);
    return answer;
  };
  const ofHead = (head: RemoteHead | 'unchanged' | undefined) =>
    typeof head === 'object' ? head.bytes.length : 0;
  return {
    readHead: (branch, options) => counted(remote.readHead(branch, options), 0, ofHead),
    readHeadSince: (branch, token, options) =>
      counted(remote.readHeadSince(branch, token, options), 0, ofHead),
    swapHead: (branch, token, bytes, options) =>
      counted(remote.swapHead(branch, token, bytes, options), bytes.length, (swap) =>
        swap.state === 'lost' ? ofHead(swap.head) : 0,
      ),
    get: (name, range, options) =>
      counted(remote.get(name, range, options), 0, (bytes) => bytes?.length ?? 0),
    put: (name, bytes, options) => counted(remote.put(name, bytes, options), bytes.length),
    remove: (names, options) => counted(remote.remove(names, options), 0),
    list: (prefix, options) => counted(remote.list(prefix, options), 0),
  };
}
