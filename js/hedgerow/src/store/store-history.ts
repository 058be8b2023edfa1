/** The namespace `db.history`. */

import { MERGE_OPTIONS, type MergeOptions } from '../engine/branches/merge-options.js';
import type { RevertResult } from '../engine/branches/revert.js';
import type { Change, DiffOptions } from '../engine/read/decode-diff.js';
import { makeRows, type Rows, yieldLoaded } from '../engine/read/scan.js';
import type { CommitResult } from '../engine/transaction/run.js';
import type { Transaction } from '../engine/transaction/transaction.js';
import { COMMIT_OPTIONS, type CommitOptions } from '../engine/transaction/transaction-options.js';
import { type HandleAccess, jobOf, runChange } from './handle-access.js';
import { readParts } from './on-demand-code.js';
import { storeParts } from './on-demand-store-code.js';
import type { Snapshot } from './snapshot.js';

/** The changes between commits of a store: `db.history`. */
export interface StoreHistory {
  /**
   * Returns the changes from one root to another, in the order of keys. Costs the nodes that the two do not share.
   * Roots are values that `root` had, while their chunks are stored.
   */
  diff<Value = unknown>(from: string, to: string, options?: DiffOptions): Rows<Change<Value>>;
  /**
   * Returns the changes from a root to the head at the time when the reading begins, in the order of keys: the changes
   * while a page that has kept its `root` was closed. A root that no branch and no snapshot keeps may have been
   * compacted away, entirely or in part: the reading then fails with `missing-chunk`, possibly after some changes. The
   * root of an empty store always works. Costs the nodes that the two do not share.
   */
  since<Value = unknown>(root: string, range?: DiffOptions): Rows<Change<Value>>;
  /**
   * Returns the changes of this branch since it was forked, or last merged with the branch that it was forked from, in
   * the order of keys: a review of a draft. Changes of the other branch are not among them. Fails with
   * `invalid-argument` for the main branch, and if the other branch was deleted.
   */
  sinceFork<Value = unknown>(range?: DiffOptions): Rows<Change<Value>>;
  /**
   * Runs a transaction, and resolves to what `body` returned as `value`, with the roots `before` and `after` its own
   * commit, which has no changes of others: `revert` takes these roots. They are equal if there was no change. With
   * `keep` they can be reverted until `close()`; without it until a collection deletes chunks that no head needs any
   * more.
   */
  commit<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: CommitOptions,
  ): Promise<CommitResult<T>>;
  /**
   * Takes one change back, in one commit: the change that led from the root or snapshot `before` to the root or
   * snapshot `after`, as `commit` returns them. Changes of others stay. A row of the change that has another value by
   * now is a conflict: it stays as it is, or becomes what `onConflict` returns, for which `ours` is its present value,
   * `base` the value that the change gave it, and `theirs` the value before. `revert(after, before)` is the redo.
   * Rejects with `missing-chunk` if a root is no longer stored.
   */
  revert(
    before: string | Snapshot,
    after: string | Snapshot,
    options?: MergeOptions,
  ): Promise<RevertResult>;
}

export function createHistory(own: HandleAccess): StoreHistory {
  const { from: at } = own;
  /** Returns the changes from a root, or from the fork of the branch, to a root, or to the head. */
  const changes = (from: string | undefined, to: string | undefined, options: DiffOptions = {}) =>
    makeRows(() => {
      at.check();
      return yieldLoaded(async () =>
        (await readParts()).differences(at.host, at.branchHead, from, to, options),
      );
    }) as Rows<Change<never>>;
  return {
    diff: changes,
    since: (root, range) => changes(root, undefined, range),
    sinceFork: (range) => changes(undefined, undefined, range),
    commit: async (body, options = {}) =>
      own.transact(body, jobOf(own, 'history.commit', options, COMMIT_OPTIONS)),
    async revert(before, after, options = {}) {
      at.check();
      const job = jobOf(own, 'history.revert', options, MERGE_OPTIONS);
      return runChange(own, job, job.onConflict !== undefined, async (job) =>
        (await storeParts()).revert(at.branchHead, before, after, job),
      );
    },
  };
}
