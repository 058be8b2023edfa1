/**
 * Probes whether a store keeps writers apart. A store that ignores conditions answers every swap with success: two
 * devices win, and the changes of one are lost. So the probe asks for swaps that must be refused, on a head that it
 * makes and deletes again.
 */

import { optionsOf } from '../../base/check-options.js';
import { type HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { sleep } from '../../base/pauses.js';
import { checkedRemote } from './checked-remote.js';
import { headName, PROBES } from './object-names.js';
import {
  REMOTE_OPTIONS,
  type Remote,
  type RemoteHead,
  type RemoteOptions,
  type Swap,
} from './remote.js';
import { slowedMs, unsafeFault } from './remote-faults.js';
import { type Patience, swapPatiently } from './swap-head-with-retries.js';

/** Swaps at the same time; one of them must succeed. */
const SWAPS = 8;
/** Times that a store that takes few writes of one object may refuse all of them. */
const MAX_REFUSED = 10;
/** A token that no head has: no bytes that are written here have this MD5. */
const WRONG_TOKEN = '"00000000000000000000000000000000"';

/** The place of the verdict of a device that has probed: a name of a head. */
const VERDICT_BRANCH = '~probe';
/** The text of the verdict. A version that asks for more has another text, and probes again. */
const VERDICT = 'hedgerow probe 1';

const ascii = (text: string) => Uint8Array.from(text, (one) => one.charCodeAt(0));

class Probe {
  readonly #remote: Remote;
  readonly #patience: Patience;
  readonly #options: RemoteOptions;
  readonly #branch: string;
  #states = 0;

  constructor(remote: Remote, branch: string, patience: Patience, options: RemoteOptions) {
    this.#remote = remote;
    this.#branch = branch;
    this.#patience = patience;
    this.#options = options;
  }

  /** Makes a state that the head never had: the tokens of some stores are hashes of it. */
  #next(): Uint8Array {
    this.#states++;
    return ascii(`${this.#branch} ${this.#states}`);
  }

  async #swap(token: string | undefined): Promise<Swap> {
    const { signal } = this.#options;
    const wanted = { branch: this.#branch, token, bytes: this.#next(), signal };
    const swap = await swapPatiently(this.#remote, wanted, this.#patience);
    if (swap.state === 'unknown') throw swap.cause;
    return swap;
  }

  async #expectGrant(token: string | undefined, what: string): Promise<string> {
    const swap = await this.#swap(token);
    if (swap.state === 'swapped') return swap.token;
    throw unsafeFault(`the store refuses ${what}, which it must grant`);
  }

  async #expectRefusal(token: string | undefined, what: string): Promise<void> {
    const swap = await this.#swap(token);
    if (swap.state === 'swapped') {
      throw unsafeFault(
        `the store grants ${what}, which it must refuse: two writers would both win`,
      );
    }
  }

  /** Runs the whole probe. */
  async run(): Promise<void> {
    const first = await this.#expectGrant(undefined, 'the creation of a head');
    await this.#expectRefusal(undefined, 'the creation of a head that exists (If-None-Match: *)');
    await this.#expectRefusal(WRONG_TOKEN, 'the replacement of a head by a wrong token (If-Match)');
    const second = await this.#expectGrant(
      first,
      'the replacement of a head by its token (If-Match)',
    );
    await this.#expectRefusal(first, 'the replacement of a head by an older token (If-Match)');
    const { sleep } = this.#patience;
    for (let refusals = 1; ; refusals++) {
      const cause = await this.#meet(second);
      if (cause === undefined) return;
      const ms = slowedMs(cause);
      if (ms === undefined || refusals === MAX_REFUSED) throw cause;
      await sleep(ms, this.#options.signal);
    }
  }

  /** Makes several replacements by one token at a time. Returns why no swap took effect; throws `remote/unsafe`. */
  async #meet(token: string): Promise<HedgerowError | undefined> {
    const states = Array.from({ length: SWAPS }, () => this.#next());
    const swaps = await Promise.all(states.map((bytes) => this.#once(token, bytes)));
    const won = states.filter((_, at) => swaps[at]?.state === 'swapped');
    if (won.length > 1) {
      throw unsafeFault(
        `of ${SWAPS} replacements by one token at a time, ${won.length} were granted`,
      );
    }
    const head = await this.#remote.readHead(this.#branch, this.#options);
    const stands = states.find((bytes) => hex(bytes) === hex(head?.bytes ?? new Uint8Array()));
    // If several met, the store may not know how one ended: then the head that is there is the winner.
    if (stands !== undefined && (won[0] ?? stands) === stands) return undefined;
    const causes = swaps.flatMap((swap) => (swap.state === 'unknown' ? [swap.cause] : []));
    const cause = causes.find((one) => slowedMs(one) === undefined) ?? causes[0];
    if (won.length === 0 && cause !== undefined) return cause;
    throw unsafeFault('a head that was replaced is not the one that is read');
  }

  /** Makes one of the swaps that meet. A store that takes no more writes has refused it. */
  async #once(token: string, bytes: Uint8Array): Promise<Swap> {
    try {
      return await this.#remote.swapHead(this.#branch, token, bytes, this.#options);
    } catch (cause) {
      if (slowedMs(cause) === undefined) throw cause;
      return { state: 'unknown', cause: cause as HedgerowError };
    }
  }
}

async function probe(remote: Remote, patience: Patience, options: RemoteOptions): Promise<void> {
  const branch =
    PROBES + [Math.random(), Math.random()].map((one) => one.toString(36).slice(2)).join('');
  try {
    await new Probe(remote, branch, patience, options).run();
  } finally {
    // A writer may lack the right to delete: a collection removes the head then.
    await remote.remove([headName(branch)], options).catch(() => {});
  }
}

/**
 * Resolves if the store keeps writers apart, after about 25 requests; rejects with `remote/unsafe`, which says what it
 * did wrong, or with any error of a remote. It writes a head of a random name, and removes it. Keep the answer for as
 * long as the address stays the same, but not for ever: stores and proxies change.
 */
export async function probeRemote(given: Remote, options: RemoteOptions = {}): Promise<void> {
  const remote = checkedRemote('probeRemote', given);
  const { signal } = optionsOf('probeRemote', options, REMOTE_OPTIONS);
  await probe(remote, { sleep, chance: Math.random }, { signal });
}

/** Probes like `probeRemote`, unless a device has left its verdict at the remote: then it is one request. */
export async function probeOnce(
  remote: Remote,
  patience: Patience,
  options: RemoteOptions,
): Promise<void> {
  const found = await verdictOf(remote, options);
  if (hex(found?.bytes ?? new Uint8Array()) === hex(ascii(VERDICT))) return;
  await probe(remote, patience, options);
  const wanted = { branch: VERDICT_BRANCH, token: found?.token, bytes: ascii(VERDICT) };
  // The verdict only saves others their probe.
  await swapPatiently(remote, { ...wanted, signal: options.signal }, patience).catch(() => {});
}

/** Reads the head in the place of the verdict. One without the signature of the remote's heads does not count. */
async function verdictOf(remote: Remote, options: RemoteOptions): Promise<RemoteHead | undefined> {
  try {
    return await remote.readHead(VERDICT_BRANCH, options);
  } catch (cause) {
    if (kindOfError(cause) === 'remote/data') return undefined;
    throw cause;
  }
}
