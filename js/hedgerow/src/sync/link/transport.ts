/** The values that say with whom a store syncs. They hold options and no code: the store loads the code of a kind. */
import type { Connection } from './connection.js';

/**
 * A place to sync with, for `db.connect`: made by `bucket`, `rest` or `mutators`. `C` is the connection that it leads
 * to, and `Tx` the transaction that it expects of the store.
 */
// biome-ignore lint/suspicious/noExplicitAny: most transports run on each store
export interface Transport<C extends Connection = Connection, Tx = any> {
  readonly kind: 'bucket' | 'rest' | 'mutators';
  /** For types alone: it is never there. */
  readonly types?: ((tx: Tx) => C) | undefined;
}
