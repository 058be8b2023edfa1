/** Reads the heads of a remote, and refuses heads that take it back. */

import { sameBytes } from '../../base/bytes.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import type { Scope } from '../remote/format/cipher-suite.js';
import type { HashFunction } from '../remote/format/content-names.js';
import { readEnvelope } from '../remote/format/envelope.js';
import { decodeHead } from '../remote/format/head-codec.js';
import type { HeadRecord } from '../remote/format/head-record.js';
import { breakBetween } from '../remote/format/head-succession.js';
import type { Remote, RemoteHead } from '../remote/remote.js';
import type { LinkState } from './link-state.js';

/** A head that was read. */
export interface SeenHead {
  readonly head: HeadRecord;
  readonly hashBytes: Uint8Array;
  readonly token: string;
}

/** The part of the state that a head is compared with. */
type KnownState = Pick<LinkState, 'repositoryBytes' | 'seq' | 'seenBytes' | 'epoch'>;

export class Heads {
  readonly #remote: Remote;
  readonly #branch: string;
  readonly #hash: HashFunction;
  readonly #scope: Scope;
  #last: SeenHead | undefined;
  #brought: RemoteHead | undefined;

  constructor(remote: Remote, branch: string, hash: HashFunction, scope: Scope) {
    this.#remote = remote;
    this.#branch = branch;
    this.#hash = hash;
    this.#scope = scope;
  }

  /** The head that was read or written last. */
  get last(): SeenHead | undefined {
    return this.#last;
  }

  /** Records a head that was written here. */
  own(seen: SeenHead): void {
    this.#last = seen;
  }

  /** Takes the head that came with the answer to a lost swap: the next `latest` needs no request. */
  bring(found: RemoteHead | undefined): void {
    this.#brought = found;
  }

  /** Reads the head: one request, without a body if it is the last one. `undefined` if there was never one. */
  async latest(known: KnownState, signal?: AbortSignal): Promise<SeenHead | undefined> {
    const last = this.#last;
    const brought = this.#brought;
    this.#brought = undefined;
    const found =
      brought ??
      (await (last === undefined
        ? this.#remote.readHead(this.#branch, { signal })
        : this.#remote.readHeadSince(this.#branch, last.token, { signal })));
    if (last !== undefined && found === 'unchanged') {
      // Another tab may have seen a newer one: then this answer is stale.
      if (last.head.seq >= known.seq) return last;
      return this.#again(known, signal);
    }
    return this.#take(found as RemoteHead | undefined, known, signal);
  }

  async #take(
    found: RemoteHead | undefined,
    known: KnownState,
    signal: AbortSignal | undefined,
  ): Promise<SeenHead | undefined> {
    if (found === undefined) return this.#absent(known);
    try {
      return await this.take(found.bytes, found.token, known);
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      if (cause.code !== 'rollback' && kindOfError(cause) !== 'remote/data') throw cause;
      // A cache on the way may have answered with an old or damaged head.
      return this.#again(known, signal);
    }
  }

  async #again(known: KnownState, signal: AbortSignal | undefined): Promise<SeenHead | undefined> {
    const found = await this.#remote.readHead(this.#branch, { signal, pastCaches: true });
    return found === undefined ? this.#absent(known) : this.take(found.bytes, found.token, known);
  }

  /** Asks past all caches whether there is a later head than the last one, which it then replaces. */
  async hasMoved(known: KnownState, signal: AbortSignal | undefined): Promise<boolean> {
    const seq = this.#last?.head.seq ?? 0;
    const now = await this.#again(known, signal);
    return now !== undefined && now.head.seq > seq;
  }

  #absent({ seq }: KnownState): undefined {
    this.#last = undefined;
    if (seq === 0) return undefined;
    throw new HedgerowError('remote/gone', `the head of ${this.#branch} was deleted at the remote`);
  }

  /**
   * Takes the bytes of a head. Rejects with `remote/data` or `wrong-key`, and with `rollback` if it cannot follow
   * the last seen head.
   */
  async take(bytes: Uint8Array, token: string, known: KnownState): Promise<SeenHead> {
    // A writer with only an older key was shut out since. This check is first, as this device may lack that key.
    const { epoch } = readEnvelope('head', bytes);
    // Else a push might go on from a head that the remote no longer has.
    this.#last = undefined;
    if (epoch < known.epoch) throw rollback(`its head has key ${epoch}, after key ${known.epoch}`);
    const head = await decodeHead(bytes, this.#scope);
    const hashBytes = this.#hash(bytes);
    checkFollows(head, hashBytes, known);
    this.#last = { head, hashBytes, token };
    return this.#last;
  }
}

/** Throws `rollback` unless a head may follow the last one that was seen. */
function checkFollows(head: HeadRecord, hashBytes: Uint8Array, known: KnownState): void {
  const { repositoryBytes, seq, seenBytes } = known;
  if (repositoryBytes === undefined || seq === 0) return;
  if (!sameBytes(head.repositoryBytes, repositoryBytes)) {
    throw rollback(`it is another repository now, ${hex(head.repositoryBytes)}`);
  }
  if (head.seq < seq) throw rollback(`its head is number ${head.seq}, after number ${seq}`);
  if (head.seq === seq && !sameBytes(hashBytes, seenBytes)) {
    throw rollback(`there is another head number ${seq}`);
  }
  const before = { repositoryBytes, seq };
  if (head.seq === seq + 1 && breakBetween(head, before, seenBytes) !== undefined) {
    throw rollback(`its head number ${head.seq} follows another head number ${seq}`);
  }
}

function rollback(what: string): HedgerowError {
  return new HedgerowError('rollback', `the remote went back: ${what}`);
}
