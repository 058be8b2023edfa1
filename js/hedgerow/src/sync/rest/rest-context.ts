/** The parts that all work with a server of plain rows uses. */

import type { BranchHead } from '../../engine/history/branch-head.js';
import type { MergeContext } from '../link/link-context.js';
import type { SyncHost } from '../link/linked-store-types.js';
import type { Wire } from '../wire/app-server-client.js';
import type { PullCookieStore } from './pull-cookie-store.js';
import type { RestOptions } from './rest-options.js';

export interface RestContext extends MergeContext {
  readonly store: SyncHost;
  /** The branch with the rows of the server: as they were pulled, with the changes that it has accepted since. */
  readonly origin: BranchHead;
  readonly memo: PullCookieStore;
  readonly wire: Wire;
  readonly options: RestOptions;
  readonly maxPullBytes: number;
  readonly maxPushBytes: number;
}
