/** The jobs and results of a collection. */

/** A number of objects at a remote, and their bytes. */
export interface RemoteAmount {
  readonly objects: number;
  readonly bytes: number;
}

/** The objects that a collection has deleted, and the objects that are there after it. */
export interface CollectResult {
  readonly deleted: RemoteAmount;
  /** Objects that a head names. */
  readonly live: RemoteAmount;
  /** Objects that no head names; a collection deletes them after the grace. */
  readonly waiting: RemoteAmount;
  /** Objects that no read head names. A push under way may name them, so a later collection decides. */
  readonly kept: RemoteAmount;
  /**
   * Objects that a head names and the remote lacks: new devices cannot clone until a device that has all rows calls
   * `connection.repair({ remote: true })`. While any is missing, a collection deletes no object, since a person may
   * need it.
   */
  readonly missing: readonly string[];
}

/** The progress of a collection with the objects of a mark. */
export interface CollectProgress {
  readonly deleted: number;
  readonly all: number;
}

/** The checked options of a collection. */
export interface CollectJob {
  readonly graceMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: ((progress: CollectProgress) => void) | undefined;
}
