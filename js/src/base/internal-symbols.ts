/**
 * The member of a store that runs a transaction of the library itself: see `ReaderWriter`. All copies of the library share it:
 * a page may have the store from one bundle and its tables from another.
 */
export const OWN: unique symbol = Symbol.for('hedgerow.own');

/** The option of `putMany` by which a table looks at bytes before the core takes them: a function that may throw. */
export const LOOK: unique symbol = Symbol.for('hedgerow.look');

/** Options that may have it. */
export interface LookOption {
  readonly [LOOK]?: ((bytes: Uint8Array) => void) | undefined;
}
