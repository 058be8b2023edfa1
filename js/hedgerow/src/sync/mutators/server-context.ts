/** The parts that all work with the app's own server uses. */
import type { BranchHead } from '../../engine/history/branch-head.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { Durability } from '../../storage/segment-store.js';
import type { SyncHost } from '../link/linked-store-types.js';
import type { Wire } from '../wire/app-server-client.js';
import type { MutatorOptions } from './mutator-options.js';
import type { Queue } from './queue.js';
import type { Mutators } from './types.js';

export interface ServerContext {
  readonly store: SyncHost;
  readonly shared: SharedStore;
  /** The branch of the app. */
  readonly local: BranchHead;
  /** The branch with the rows of the server as they were last seen. */
  readonly server: BranchHead;
  readonly queue: Queue;
  readonly wire: Wire;
  readonly options: MutatorOptions<Mutators>;
  readonly durability: Durability;
  readonly maxPullBytes: number;
  readonly maxPushBytes: number;
}

/** The error when the queue, or the record of the server, has moved: look, and begin again. */
export class QueueMovedError extends Error {}

/** Resolves as a promise does; to `undefined` if it rejects with `QueueMovedError`. */
export async function unlessMoved<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (cause) {
    if (cause instanceof QueueMovedError) return undefined;
    throw cause;
  }
}
