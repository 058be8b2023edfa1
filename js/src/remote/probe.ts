/**
 * Whether a store keeps writers apart. One that ignores conditions answers every swap with success: two devices win, and
 * the changes of one are lost. So this asks for what must be refused, on a branch that it makes and deletes again.
 */
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { checkedRemote } from './checked.js';
import { unsafeFault } from './faults.js';
import { headName } from './names.js';
import type { Remote, RemoteOptions, Swap } from './remote.js';

/** Swaps at the same time, of which one must succeed. */
const SWAPS = 8;
/** A token that no head has: the MD5 of nothing that is written here. */
const WRONG_TOKEN = '"00000000000000000000000000000000"';

class Probe {
  readonly #remote: Remote;
  readonly #options: RemoteOptions;
  readonly #branch: string;
  #states = 0;

  constructor(remote: Remote, branch: string, options: RemoteOptions) {
    this.#remote = remote;
    this.#branch = branch;
    this.#options = options;
  }

  /** A state that the head never had: the tokens of some stores are hashes of it. */
  #next(): Uint8Array {
    this.#states++;
    return Uint8Array.from(`${this.#branch} ${this.#states}`, (one) => one.charCodeAt(0));
  }

  async #swap(token: string | undefined): Promise<Swap> {
    const swap = await this.#remote.swapHead(this.#branch, token, this.#next(), this.#options);
    if (swap.state === 'unknown') throw swap.cause;
    return swap;
  }

  async #granted(token: string | undefined, what: string): Promise<string> {
    const swap = await this.#swap(token);
    if (swap.state === 'swapped') return swap.token;
    throw unsafeFault(`the store refuses ${what}, which it must grant`);
  }

  async #refused(token: string | undefined, what: string): Promise<void> {
    const swap = await this.#swap(token);
    if (swap.state === 'swapped') {
      throw unsafeFault(
        `the store grants ${what}, which it must refuse: two writers would both win`,
      );
    }
  }

  /** Runs all of it. */
  async run(): Promise<void> {
    const first = await this.#granted(undefined, 'the creation of a head');
    await this.#refused(undefined, 'the creation of a head that exists (If-None-Match: *)');
    await this.#refused(WRONG_TOKEN, 'the replacement of a head by a wrong token (If-Match)');
    const second = await this.#granted(first, 'the replacement of a head by its token (If-Match)');
    await this.#refused(first, 'the replacement of a head by an older token (If-Match)');
    const states = Array.from({ length: SWAPS }, () => this.#next());
    const swaps = await Promise.all(
      states.map((bytes) => this.#remote.swapHead(this.#branch, second, bytes, this.#options)),
    );
    const won = states.filter((_, at) => swaps[at]?.state === 'swapped');
    const unknown = swaps.find((swap) => swap.state === 'unknown');
    if (won.length > 1) {
      throw unsafeFault(
        `of ${SWAPS} replacements by one token at a time, ${won.length} were granted`,
      );
    }
    const head = await this.#remote.readHead(this.#branch, this.#options);
    const stands = states.find((bytes) => hex(bytes) === hex(head?.bytes ?? new Uint8Array()));
    // Of several that met, the store may not know how one ended: then what stands there is the winner.
    if (stands === undefined || (won[0] ?? stands) !== stands) {
      if (unknown?.state === 'unknown') throw unknown.cause;
      throw unsafeFault('a head that was replaced is not the one that is read');
    }
  }
}

/**
 * Resolves if the store keeps writers apart, after about 25 requests; rejects with `remote-unsafe`, which says what it
 * did wrong, or with what any call of a remote rejects with. It writes a branch of a random name, and removes it. Keep
 * the answer for as long as the address stays the same, but not for ever: stores and proxies change.
 */
export async function probeRemote(given: Remote, options: RemoteOptions = {}): Promise<void> {
  const remote = checkedRemote('probeRemote', given);
  const branch = `probe-${[Math.random(), Math.random()].map((one) => one.toString(36).slice(2)).join('')}`;
  let fault: unknown;
  try {
    await new Probe(remote, branch, options).run();
  } catch (cause) {
    fault = cause;
  }
  try {
    await remote.remove([headName(branch)], options);
  } catch (cause) {
    // What is left behind hurts nobody: a writer need not be allowed to delete.
    const isDenied = cause instanceof HedgerowError && cause.code === 'remote-auth';
    if (!isDenied) fault ??= cause;
  }
  if (fault !== undefined) throw fault;
}
