/** `hedgerow/mutators`: changes made offline, and a server that decides. */
import { type LinkableStore, linkOwnServer } from '../wire/link-app-server.js';
import type { ServerLink } from './server-link.js';
import type { MutatorOptions, Mutators, TransactionOf } from './types.js';

export type { Progress } from '../../engine/write/ingest-result.js';
export { type PokesOptions, serverPokes } from '../remote/server-pokes.js';
export type { ServerLink } from './server-link.js';
export type {
  Endpoint,
  MergingName,
  Mutator,
  MutatorCalls,
  MutatorOptions,
  Mutators,
  PendingCall,
  PullJob,
  PullRequest,
  PushRequest,
  RejectedCall,
  SentCall,
  ServerPull,
  ServerReset,
  ServerState,
  ServerSyncOptions,
  TransactionOf,
  Undoable,
  UndoResult,
} from './types.js';

/**
 * Binds a store to the app's own server, which speaks the push and pull of Replicache. Costs no request. From then on
 * the rows of the store's branch are the server's, with the calls that it has not acknowledged made on them. Other
 * writes of that branch reject with `invalid-argument`, since the next pull would undo them. Rejects with
 * `invalid-argument` for a store that has rows and was never bound.
 */
export async function mutators<
  Db extends LinkableStore,
  const M extends Mutators<TransactionOf<Db>>,
>(db: Db, options: MutatorOptions<M>): Promise<ServerLink<M>> {
  return (await linkOwnServer(db, { kind: 'mutators', wanted: options })) as ServerLink<M>;
}
