/** The interface by which an app keeps rows in a form of its own. */

/**
 * The conversion between rows of the app and stored values. Both calls answer at once, and depend on their argument
 * alone.
 */
export interface Codec<Row> {
  /** Makes the stored value: a plain object that JSON can hold. Equal rows must give equal results. */
  encode(row: Row): unknown;
  /** Makes the row of a stored value. No other code holds `stored`: the row may be made of it. */
  decode(stored: unknown): Row;
}
