/** The member of a handle whose store is elsewhere, by which live queries follow its rows: see `live/types.ts`. */
export const FOLLOW: unique symbol = Symbol.for('hedgerow.follow') as never;
