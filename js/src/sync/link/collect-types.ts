/** What callers of a collection give and get. */

/** How many objects of a remote, and of how many bytes. */
export interface RemoteAmount {
  readonly objects: number;
  readonly bytes: number;
}

/** What a collection has done, and what is there after it. */
export interface CollectResult {
  readonly deleted: RemoteAmount;
  /** Named by a head. */
  readonly live: RemoteAmount;
  /** Named by no head; deleted by a collection after the grace. */
  readonly waiting: RemoteAmount;
  /** Named by no head that was read, and perhaps of a push that is under way: looked at again by a later collection. */
  readonly kept: RemoteAmount;
  /**
   * Objects that a head names and that are not there: new devices cannot clone, until a device that has all rows calls
   * `link.repair({ remote: true })`. Nothing is deleted while there are any, since a person may need it.
   */
  readonly missing: readonly string[];
}

/** How far a collection is with the objects of a mark. */
export interface CollectProgress {
  readonly deleted: number;
  readonly all: number;
}

export interface CollectOptions {
  /**
   * How long an object stays after the last head that named it, in milliseconds, by the remote's clock: 7 days by
   * default, and at least an hour. All who collect at a remote take the same.
   */
  readonly graceMs?: number | undefined;
  /** Ends the call with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CollectProgress) => void) | undefined;
}

/** A collection whose options were checked. */
export interface CollectJob {
  readonly graceMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: ((progress: CollectProgress) => void) | undefined;
}
