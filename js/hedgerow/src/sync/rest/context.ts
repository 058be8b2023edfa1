/** The parts that all work with a server of plain rows uses. */

import type { BranchHead } from '../../engine/history/branch-head.js';
import type { MergeContext } from '../link/context.js';
import type { SyncHost } from '../link/sync-host.js';
import type { Wire } from '../wire/wire.js';
import type { ServerRecordStore } from './server-record-store.js';
import type { RestOptions } from './types.js';

export interface RestContext extends MergeContext {
  readonly store: SyncHost;
  /** The branch with the rows of the server: as they were pulled, with the changes that it has accepted since. */
  readonly origin: BranchHead;
  readonly memo: ServerRecordStore;
  readonly wire: Wire;
  readonly options: RestOptions;
  readonly maxPullBytes: number;
  readonly maxPushBytes: number;
}
