/** The member of a store that runs a transaction of the library itself: see `ReaderWriter`. */
export const OWN: unique symbol = Symbol('own');

/** The option of `putMany` by which a table looks at bytes before the core takes them: a function that may throw. */
export const LOOK: unique symbol = Symbol('look');

/** Options that may have it. */
export interface Looking {
  readonly [LOOK]?: ((bytes: Uint8Array) => void) | undefined;
}
