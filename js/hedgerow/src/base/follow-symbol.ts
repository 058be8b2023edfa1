/** The member by which live queries follow the rows of a handle whose store is elsewhere: see `live/types.ts`. */
export const FOLLOW: unique symbol = Symbol.for('hedgerow.follow') as never;
