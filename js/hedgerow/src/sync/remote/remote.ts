/**
 * The interface of every remote: a place where the copies of a store meet. An adapter moves bytes and does not know of
 * trees. All objects are immutable, but for the heads of branches. An adapter must get one thing right: of several
 * swaps against one token at most one succeeds.
 *
 * Every call rejects with `invalid-argument` for a malformed name, with `aborted` after its signal, and with one of
 * five codes of its own:
 * - `offline`: no answer came, or it was cut off. Trying again may help.
 * - `unauthorized`: the credentials are missing, wrong or expired, or do not allow this.
 * - `remote/unsafe`: the store cannot keep writers apart, or a proxy or CORS hides what that needs.
 * - `remote/gone`: the head, the bucket or the folder was deleted. Do not make it again unasked.
 * - `remote`: any other answer. `status` is of HTTP; from 500 on, and for 408, 425, 429, trying again may help.
 */
import { anything, type OptionsOf, signalCheck } from '../../base/check-options.js';
import type { HedgerowError } from '../../base/errors.js';

export const REMOTE_OPTIONS = {
  /** Ends the wait at once. A write that was sent before may still take effect. */
  signal: signalCheck,
};

/** Common options of the calls of a remote. */
export interface RemoteOptions extends OptionsOf<typeof REMOTE_OPTIONS> {}

export const READ_HEAD_OPTIONS = {
  ...REMOTE_OPTIONS,
  /** Asks in a way that no cache can answer. Costs more; only for a head that is older than one seen before. */
  pastCaches: anything<boolean>(),
};

export interface ReadHeadOptions extends OptionsOf<typeof READ_HEAD_OPTIONS> {}

/** The head of a branch as it was read. */
export interface RemoteHead {
  readonly bytes: Uint8Array;
  /** Stands for this state of the head: opaque, and only for this remote. May be stored. */
  readonly token: string;
  /** When it was written, by the clock of the remote; `undefined` if the remote does not say. */
  readonly modifiedMs: number | undefined;
}

/** The outcome of a swap. */
export type Swap =
  | { readonly state: 'swapped'; readonly token: string }
  /** The head was not written: `head` is the one that is there, `undefined` if it was deleted since. */
  | { readonly state: 'lost'; readonly head: RemoteHead | undefined }
  /** The head may have been written or not, and may still be: read it, and look for your own nonce. */
  | { readonly state: 'unknown'; readonly cause: HedgerowError };

/** The bytes of an object from `from` up to `to`; `to` is above `from`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** An object as `list` describes it. */
export interface RemoteObject {
  readonly name: string;
  readonly length: number;
  /** When it was written, by the clock of the remote. Compare it with the time of a head, not with this device's. */
  readonly modifiedMs: number;
}

export interface Remote {
  /** Reads the head of a branch, `undefined` if it does not exist: one request. At most `MAX_HEAD_BYTES`. */
  readHead(branch: string, options?: ReadHeadOptions): Promise<RemoteHead | undefined>;
  /** Reads the head; resolves to `'unchanged'` if it still has this token: then no body travels. */
  readHeadSince(
    branch: string,
    token: string,
    options?: RemoteOptions,
  ): Promise<RemoteHead | 'unchanged' | undefined>;
  /**
   * Replaces the head if it still has this token; with `undefined`, creates it if it does not exist. One request when
   * it succeeds, two when it is lost. Rejects with `remote/gone` if there was a token and the head does not exist.
   */
  swapHead(
    branch: string,
    token: string | undefined,
    bytes: Uint8Array,
    options?: RemoteOptions,
  ): Promise<Swap>;
  /**
   * Reads an object, or a range of it; `undefined` if it does not exist. If it ends within the range, resolves to the
   * bytes up to its end. The bytes are not checked against the name: their decoder must do so.
   */
  get(name: string, range?: ByteRange, options?: RemoteOptions): Promise<Uint8Array | undefined>;
  /**
   * Writes an object. Of `hedgerow` only the first write counts: `'exists'` says that it is there already, with these
   * or other bytes. The other names are hashes of bytes: writing an object again is fine, and renews its age. After
   * `offline` it may have been written: call it again.
   */
  put(name: string, bytes: Uint8Array, options?: RemoteOptions): Promise<'put' | 'exists'>;
  /** Deletes objects, also heads; missing ones count as deleted. Tries all, and rejects with the first failure. */
  remove(names: readonly string[], options?: RemoteOptions): Promise<void>;
  /** Lists all packs, deltas or heads, in no order: for the collection of orphans. A request for each 1,000. */
  list(prefix: ListPrefix, options?: RemoteOptions): Promise<readonly RemoteObject[]>;
}

export type ListPrefix = 'p/' | 'd/' | 'h/';
