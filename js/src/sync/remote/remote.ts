/**
 * The interface of every remote: a place where the copies of a store meet. An adapter moves bytes and knows nothing of
 * trees. All objects are immutable, but for the heads of branches; and the one thing that an adapter must get right is
 * that of several swaps against one token at most one succeeds.
 *
 * Every call rejects with `invalid-argument` for a malformed name, with `aborted` after its signal, and with one of five
 * codes of its own:
 * - `offline`: nobody answered, or the answer was cut off. Trying again may help.
 * - `remote-auth`: the credentials are missing, wrong or expired, or do not allow this.
 * - `remote-unsafe`: the store cannot keep writers apart, or a proxy or CORS hides what is needed for that.
 * - `remote-gone`: the head, the bucket or the folder was deleted. Do not make it again unasked.
 * - `remote`: any other answer. `status` has that of HTTP; from 500 on, and for 408, 425, 429, trying again may help.
 */
import type { HedgerowError } from '../../base/errors.js';

/** Common options of the calls of a remote. */
export interface RemoteOptions {
  /** Ends the wait at once. A write that was sent before may still take effect. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadHeadOptions extends RemoteOptions {
  /** Asks in a way that no cache can answer. Costs more; only for a head that is older than one seen before. */
  readonly pastCaches?: boolean | undefined;
}

/** The head of a branch as it was read. */
export interface RemoteHead {
  readonly bytes: Uint8Array;
  /** Stands for this state of the head: opaque, and only for this remote. May be stored. */
  readonly token: string;
  /** When it was written, by the clock of the remote; `undefined` where the remote does not tell. */
  readonly modifiedMs: number | undefined;
}

/** How a swap ended. */
export type Swap =
  | { readonly state: 'swapped'; readonly token: string }
  /** Nothing was written: `head` is what stands there, `undefined` if it was deleted since. */
  | { readonly state: 'lost'; readonly head: RemoteHead | undefined }
  /** It may have been written or not, and may still be: read the head, and look for your own nonce. */
  | { readonly state: 'unknown'; readonly cause: HedgerowError };

/** The bytes of an object from `from` up to `to`; `to` is above `from`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** An object as `list` tells of it. */
export interface RemoteObject {
  readonly name: string;
  readonly length: number;
  /** When it was written, by the clock of the remote. Compare it with that of a head, not with this device's. */
  readonly modifiedMs: number;
}

export interface Remote {
  /** The head of a branch, `undefined` if there is none: one request. At most `MAX_HEAD_BYTES`. */
  readHead(branch: string, options?: ReadHeadOptions): Promise<RemoteHead | undefined>;
  /** As `readHead`, but `'unchanged'` if it still has this token: then no body travels. */
  readHeadSince(
    branch: string,
    token: string,
    options?: RemoteOptions,
  ): Promise<RemoteHead | 'unchanged' | undefined>;
  /**
   * Replaces the head if it still has this token; with `undefined`, creates it if there is none. One request when it
   * succeeds, two when it is lost. Rejects with `remote-gone` if there was a token and there is no head.
   */
  swapHead(
    branch: string,
    token: string | undefined,
    bytes: Uint8Array,
    options?: RemoteOptions,
  ): Promise<Swap>;
  /**
   * An object, or a range of it; `undefined` if there is none. Of an object that ends within the range, what there is.
   * The bytes are not checked against the name: whoever decodes them must.
   */
  get(name: string, range?: ByteRange, options?: RemoteOptions): Promise<Uint8Array | undefined>;
  /**
   * Writes an object. Of `hedgerow` only the first write counts: `'exists'` says that there is one already, with these
   * or other bytes. The names of the others are hashes of their bytes: writing one again is fine, and renews its age.
   * After `offline` it may have been written: call it again.
   */
  put(name: string, bytes: Uint8Array, options?: RemoteOptions): Promise<'put' | 'exists'>;
  /** Deletes objects, heads too; those that do not exist count as deleted. Tries all, and rejects with the first failure. */
  remove(names: readonly string[], options?: RemoteOptions): Promise<void>;
  /** All packs, deltas or heads, in no order: for the collection of orphans. A request for each 1,000. */
  list(prefix: ListPrefix, options?: RemoteOptions): Promise<readonly RemoteObject[]>;
}

export type ListPrefix = 'p/' | 'd/' | 'h/';
