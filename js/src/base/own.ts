/** The member of a store that runs a transaction of the library itself: see `ReaderWriter`. */
export const OWN: unique symbol = Symbol('own');
