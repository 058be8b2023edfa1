/** `hedgerow/rest`: a server of plain rows, without mutators. */
import { type LinkableStore, linkOwnServer } from '../wire/link-app-server.js';
import type { RestLink } from './rest-link.js';
import type { RestOptions } from './types.js';

export type { Progress } from '../../engine/write/ingest-result.js';
export type { LoggedConflict } from '../link/conflict-log.js';
export type { ConflictPolicy } from '../link/conflict-policy.js';
export type { PullResult } from '../link/link-context.js';
export type { SyncLoop, SyncState, SyncStatus } from '../link/sync-loop.js';
export { type PokesOptions, serverPokes } from '../remote/server-pokes.js';
export type { RestPush } from './push-rows.js';
export type { RestLink } from './rest-link.js';
export type {
  PullJob,
  RefusedChange,
  RestEndpoint,
  RestOptions,
  RestPulled,
  RestPullRequest,
  RestPushed,
  RestPushRequest,
  RestSyncOptions,
  RowChange,
} from './types.js';

/**
 * Binds a store to a server that has rows and no mutators. Costs no request. `push` sends the changes here to it, row
 * by row; `pull` brings the changes there, and merges them three-way. Rows that were here before are changes, too.
 */
export async function rest(db: LinkableStore, options: RestOptions): Promise<RestLink> {
  return (await linkOwnServer(db, { kind: 'rest', wanted: options })) as RestLink;
}
