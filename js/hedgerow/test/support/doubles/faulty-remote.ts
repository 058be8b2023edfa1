/**
 * A remote for tests, over another one: it fails as networks and stores do. A seed decides when: the same calls in the
 * same order have the same faults.
 */
import { checkSignal } from '../../../src/base/abort-signal.js';
import { pause } from '../../../src/base/pauses.js';
import type { Remote, RemoteHead, RemoteOptions, Swap } from '../../../src/sync/remote/remote.js';
import {
  offlineFault,
  remoteFault,
  unknownIfUnsure,
} from '../../../src/sync/remote/remote-faults.js';

/** The faults of a remote. */
export type RemoteFault =
  /** The request never arrives. */
  | 'offline'
  /** The answer ends early: a read discards the part, because the length is known. */
  | 'cut'
  /** A bit of the read bytes is flipped. */
  | 'flipped'
  /** Status 500, 503 or 429, without effect. */
  | 'refused'
  /** Status 409: a swap ends as unknown, without effect. */
  | 'conflict'
  /** Status 412 though the token was right. */
  | 'lost'
  /** A write takes effect, and its answer is lost. */
  | 'landed'
  /** An older head is read. */
  | 'stale'
  /** An object is not there, for now. */
  | 'missing';

export interface FaultPlan {
  readonly seed: number;
  /** The chance of each fault at each call that it fits, from 0 to 1. */
  readonly chances: Readonly<Partial<Record<RemoteFault, number>>>;
  /** The longest latency of a call, in milliseconds; 0 by default. */
  readonly maxLatencyMs?: number;
  /** Least milliseconds between two writes of one head: sooner ones are refused with status 429. */
  readonly headEveryMs?: number;
  /** The clock for `headEveryMs`; `Date.now` by default. */
  readonly now?: () => number;
  /** How it waits; real time by default. */
  readonly wait?: (ms: number) => Promise<void>;
}

export interface FaultyRemote extends Remote {
  /** How often each fault has happened. */
  readonly counts: ReadonlyMap<RemoteFault, number>;
  /** Ends all faults. */
  heal(): void;
}

/** Returns a source of numbers from 0 up to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const STATUSES = [500, 503, 429];
/** Number of older heads of a branch that are kept, to be read again. */
const MAX_OLD = 8;

/** Decides on faults and counts them. */
class Fate {
  readonly counts = new Map<RemoteFault, number>();
  readonly #chances: FaultPlan['chances'];
  readonly #next: () => number;
  readonly #old = new Map<string, RemoteHead[]>();
  isHealed = false;

  constructor({ seed, chances }: FaultPlan) {
    this.#chances = chances;
    this.#next = random(seed);
  }

  /** Returns a whole number from 0 up to `below`. */
  below(below: number): number {
    return Math.floor(this.#next() * below);
  }

  happens(fault: RemoteFault): boolean {
    if (this.isHealed || this.#next() >= (this.#chances[fault] ?? 0)) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }

  /** Returns the bytes of an answer, after faults. */
  bytes(bytes: Uint8Array): Uint8Array {
    if (this.happens('cut')) throw offlineFault(`cut after ${this.below(bytes.length)} bytes`);
    if (bytes.length > 0 && this.happens('flipped')) {
      const at = this.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << this.below(8));
    }
    return bytes;
  }

  /** Returns a head that is read, after faults. */
  head(branch: string, head: RemoteHead | undefined): RemoteHead | undefined {
    const before = this.#old.get(branch) ?? [];
    if (head !== undefined && before[before.length - 1]?.token !== head.token) {
      this.#old.set(branch, [...before.slice(1 - MAX_OLD), { ...head, bytes: head.bytes.slice() }]);
    }
    const stale = this.happens('stale') ? before[this.below(before.length)] : undefined;
    if (stale !== undefined) return { ...stale, bytes: stale.bytes.slice() };
    return head && { ...head, bytes: this.bytes(head.bytes) };
  }
}

/** Wraps `inner` with the faults of `plan`. */
export function faultyRemote(inner: Remote, plan: FaultPlan): FaultyRemote {
  const { maxLatencyMs = 0, wait = pause, headEveryMs = 0, now = Date.now } = plan;
  const written = new Map<string, number>();
  const isTooSoon = (branch: string) =>
    headEveryMs > 0 && now() < (written.get(branch) ?? Number.NEGATIVE_INFINITY) + headEveryMs;
  const fate = new Fate(plan);

  async function begin(options: RemoteOptions = {}): Promise<void> {
    checkSignal(options.signal);
    if (maxLatencyMs > 0) await wait(fate.below(maxLatencyMs + 1));
    checkSignal(options.signal);
    if (fate.happens('offline')) throw offlineFault('no route');
    if (!fate.happens('refused')) return;
    const status = STATUSES[fate.below(STATUSES.length)] ?? 500;
    throw remoteFault(`status ${status}`, status);
  }
  /** Runs a write, which may take effect without an answer. */
  async function write<T>(options: RemoteOptions | undefined, run: () => Promise<T>): Promise<T> {
    await begin(options);
    const result = await run();
    if (fate.happens('landed')) throw offlineFault('the answer was lost');
    return result;
  }

  return {
    counts: fate.counts,
    heal: () => {
      fate.isHealed = true;
    },
    async readHead(branch, options) {
      await begin(options);
      return fate.head(branch, await inner.readHead(branch, options));
    },
    async readHeadSince(branch, token, options) {
      await begin(options);
      const head = fate.head(branch, await inner.readHead(branch, options));
      return head?.token === token ? 'unchanged' : head;
    },
    swapHead: (branch, token, bytes, options) =>
      unknownIfUnsure(() =>
        write<Swap>(options, async () => {
          const cause = remoteFault('status 409', 409);
          if (fate.happens('conflict')) return { state: 'unknown', cause };
          if (fate.happens('lost')) {
            return { state: 'lost', head: await inner.readHead(branch, options) };
          }
          if (isTooSoon(branch)) throw remoteFault('status 429', 429);
          const swap = await inner.swapHead(branch, token, bytes, options);
          if (swap.state === 'swapped') written.set(branch, now());
          return swap;
        }),
      ),
    async get(name, range, options) {
      await begin(options);
      if (fate.happens('missing')) return undefined;
      const bytes = await inner.get(name, range, options);
      return bytes && fate.bytes(bytes);
    },
    put: (name, bytes, options) => write(options, () => inner.put(name, bytes, options)),
    remove: (names, options) => write(options, () => inner.remove(names, options)),
    async list(prefix, options) {
      await begin(options);
      return inner.list(prefix, options);
    },
  };
}
