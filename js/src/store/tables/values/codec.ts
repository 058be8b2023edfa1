/** How an app keeps rows of a table in a way of its own. */

/** Between rows as the app has them and what the store keeps. Both calls answer at once, and depend on their argument alone. */
export interface Codec<Row> {
  /** What the store keeps: a plain object that JSON can hold. Equal rows must give equal results. */
  encode(row: Row): unknown;
  /** The row of what `encode` has made. `stored` is nobody else's: the row may be made of it. */
  decode(stored: unknown): Row;
}
