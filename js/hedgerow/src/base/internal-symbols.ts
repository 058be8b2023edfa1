/**
 * The member of a store that runs a transaction of the library itself: see `Store`. All copies of the library
 * share the symbol: a page may have a store from one bundle and its tables from another.
 */
export const OWN: unique symbol = Symbol.for('hedgerow.own');

/** The member of a store by which `onRecovery` listens. */
export const RECOVERY: unique symbol = Symbol.for('hedgerow.recovery');

/**
 * Calls `listener` when a watch of `db` that has ended with an error may begin again: after `repair`, `reset` and
 * `switchTo` of this handle, and when its deleted branch was made again. Returns a function that stops it.
 */
export const onRecovery = (
  db: { [RECOVERY](listener: () => void): () => void },
  listener: () => void,
): (() => void) => db[RECOVERY](listener);

/**
 * The member of a watch's callback that returns most changes that are worth a call. For more changes it gets
 * `undefined`, since a read of its rows costs less.
 */
export const MOST_CHANGES: unique symbol = Symbol.for('hedgerow.most-changes');

/** The option of `putMany` with a function by which a table checks bytes before the core takes them. It may throw. */
export const LOOK: unique symbol = Symbol.for('hedgerow.look');

/** Options that may have `LOOK`. */
export interface LookOption {
  readonly [LOOK]?: ((bytes: Uint8Array) => void) | undefined;
}
