/** The transport to a server that decides, with changes made offline. */
import type { Transaction } from '../../engine/transaction/transaction.js';
import type { Transport } from '../link/transport.js';
import type { MutatorConnection } from './mutator-connection.js';
import type { MutatorOptions } from './mutator-options.js';
import type { Mutators } from './types.js';

export type { MutatorConnection } from './mutator-connection.js';
export type { MutatorOptions } from './mutator-options.js';
export { takeChanges } from './take-changes.js';
export type {
  Endpoint,
  Mutator,
  MutatorPull,
  MutatorState,
  Mutators,
  PendingCall,
  PullRequest,
  PushRequest,
  RejectedCall,
  SentCall,
  ServerReset,
} from './types.js';

export interface MutatorTransport<M extends Mutators, Tx = Transaction>
  extends Transport<MutatorConnection<M>, Tx> {
  readonly kind: 'mutators';
  readonly options: MutatorOptions<M>;
}

/**
 * Returns the transport to the app's own server, which speaks the push and pull of Replicache. From the connection on,
 * the rows of the store's branch are the server's, with the calls that it has not acknowledged made on them. Other
 * writes of that branch reject with `invalid-argument`, since the next pull would undo them. `db.connect` rejects with
 * `invalid-argument` for a store that has rows and was never connected so.
 */
export function mutators<const M extends Mutators<Tx>, Tx = Transaction>(
  options: MutatorOptions<M> & { readonly mutators: Mutators<Tx> },
): MutatorTransport<M, Tx> {
  return { kind: 'mutators', options };
}
