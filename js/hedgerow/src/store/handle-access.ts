/** The parts of a handle that its namespaces use, such as `db.branches`. */

import { checkSignal } from '../base/abort-signal.js';
import {
  type ChecksFor,
  type DefinedMembers,
  type OptionChecks,
  optionsOf,
} from '../base/check-options.js';
import type { CollectionScheduler } from '../engine/collect/collection-scheduler.js';
import type { BranchHead } from '../engine/history/branch-head.js';
import type { ReadContext } from '../engine/read/context.js';
import type { UnfinishedChanges } from '../engine/read/unfinished-changes.js';
import type { CommitResult } from '../engine/transaction/run.js';
import type { Transaction } from '../engine/transaction/transaction.js';
import type {
  CommitOptions,
  TransactionOptions,
} from '../engine/transaction/transaction-options.js';
import type { BranchWatches } from '../engine/watch/branch-watches.js';
import type { SingleEdits } from '../engine/write/single-edits.js';
import type { Flusher } from '../engine/write/writer.js';
import type { Durability } from '../storage/segment-store.js';
import type { IndexBuildOptions } from './open.js';
import type { HealthTracker } from './storage-health-tracker.js';

/** Checked options of a change. */
export type Job<Options> = DefinedMembers<Options> & { readonly durability: Durability };

/** A handle of a store, from inside; `Db` is its class. */
export interface HandleAccess<Db = unknown> {
  readonly from: ReadContext;
  readonly edits: SingleEdits;
  readonly changes: UnfinishedChanges;
  readonly durability: Durability;
  readonly collector: CollectionScheduler;
  /** The flushers of open writers. */
  readonly flushers: Set<Flusher>;
  /** The health of the store, for all of its handles. */
  readonly health: HealthTracker;
  readonly watchers: BranchWatches;
  readonly indexing: IndexBuildOptions;
  /** Throws if the handle is closed; unlike `from.check`, not if its branch was deleted. */
  checkOpen(): void;
  /** Follows a move to another branch, or to a commit that others have made; with `all`, for all handles. */
  settle(all?: boolean): void;
  transact<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    job: Job<CommitOptions>,
  ): Promise<CommitResult<T>>;
  /** Makes a handle of another branch. */
  handleOf(branchHead: BranchHead): Db;
  /** Returns the name of a branch, or of the branch of another handle of the same store. */
  nameOf(branch: unknown): string;
}

/** Checks the options of a change. */
export function jobOf<Options extends TransactionOptions, Checks extends OptionChecks>(
  { durability }: Pick<HandleAccess, 'durability'>,
  call: string,
  options: Options,
  checks: Checks & ChecksFor<Options, Checks>,
): Job<Options> {
  const job = optionsOf<Options, Checks>(call, options, checks);
  checkSignal(job.signal);
  return { durability, ...job };
}

/** See `UnfinishedChanges.run`. */
export function runChange<T, Options extends TransactionOptions>(
  { changes }: Pick<HandleAccess, 'changes'>,
  job: Job<Options>,
  waitsForCaller: boolean,
  change: (job: Job<Options>) => Promise<T>,
): Promise<T> {
  return changes.run(job.signal, waitsForCaller, (signal) => change({ ...job, signal }));
}
