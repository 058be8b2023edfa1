/**
 * The member of a store that runs a transaction of the library itself: see `Store`. All copies of the library
 * share the symbol: a page may have a store from one bundle and its tables from another.
 */
export const OWN: unique symbol = Symbol.for('hedgerow.own');

/** The option of `putMany` with a function by which a table checks bytes before the core takes them. It may throw. */
export const LOOK: unique symbol = Symbol.for('hedgerow.look');

/** Options that may have `LOOK`. */
export interface LookOption {
  readonly [LOOK]?: ((bytes: Uint8Array) => void) | undefined;
}
