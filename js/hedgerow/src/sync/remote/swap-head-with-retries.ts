/**
 * Swaps at stores that take few writes of one object, as R2 and Google's take about one a second, and refuse more with
 * 429 or 503. Such an answer does not mean another writer: the same swap is made again after a wait.
 */
import { sameBytes } from '../../base/bytes.js';
import type { Remote, RemoteHead, Swap } from './remote.js';
import { slowedMs } from './remote-faults.js';

/** The functions for waits. */
export interface Patience {
  /** Waits for `ms` milliseconds; rejects with `aborted` after the signal. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Returns a number from 0 up to 1, for the jitter of waits. */
  readonly chance: () => number;
}

/** A swap of a head. */
export interface WantedSwap {
  readonly branch: string;
  readonly token: string | undefined;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal | undefined;
}

/** Refusals after which a swap ends with the last one: then too many devices write. */
const MAX_REFUSED = 3;
/** A store that asks for a longer wait ends the swap: the caller decides what to do. */
const MAX_WAIT_MS = 10_000;

/** The number of refusals of a store: one for each call of an app, which may make several swaps. */
export interface Refusals {
  count: number;
}

/** Swaps a head, and waits while the store takes no more writes. Ends as `Remote.swapHead` does. */
export async function swapPatiently(
  remote: Remote,
  { branch, token, bytes, signal }: WantedSwap,
  { sleep, chance }: Patience,
  refusals: Refusals = { count: 0 },
): Promise<Swap> {
  for (let tries = 1; ; tries++) {
    let swap: Swap | undefined;
    let cause: unknown;
    try {
      swap = await remote.swapHead(branch, token, bytes, { signal });
      if (swap.state === 'lost' && tries > 1 && sameBytes(swap.head?.bytes, bytes)) {
        // One of the tries before took effect.
        return { state: 'swapped', token: (swap.head as RemoteHead).token };
      }
      if (swap.state !== 'unknown') return swap;
      cause = swap.cause;
    } catch (thrown) {
      cause = thrown;
    }
    const ms = slowedMs(cause) ?? Number.POSITIVE_INFINITY;
    if (ms > MAX_WAIT_MS || ++refusals.count >= MAX_REFUSED) {
      if (swap) return swap;
      throw cause;
    }
    // The jitter keeps devices apart that were refused together.
    await sleep(ms * (1 + chance() / 2), signal);
  }
}
