/** The namespace `db.branches`. */

import { runAbortable } from '../base/run-abortable.js';
import type { Branch, BranchesOptions, BranchOptions } from '../engine/branches/branches.js';
import type { MergePreview, MergeResult } from '../engine/branches/merge.js';
import {
  MERGE_OPTIONS,
  type MergeOptions,
  PREVIEW_OPTIONS,
  type PreviewOptions,
} from '../engine/branches/merge-options.js';
import { type HandleAccess, jobOf, runChange } from './handle-access.js';
import { storeParts } from './on-demand-store-code.js';
import type { Snapshot } from './snapshot.js';

/** The branches of a store: `db.branches`. `Db` is the type of handles, such as `Store`. */
export interface StoreBranches<Db> {
  /** The name of the branch that reads and writes of this handle go to: `main` when the store was opened. */
  readonly current: string;
  /**
   * Lists all branches, the main one first, each with where it was forked; lists branches of remotes only on request.
   */
  list(options?: BranchesOptions): Promise<Branch[]>;
  /**
   * Opens another handle, which reads and writes the branch `name`. A missing branch is forked from where this handle
   * stands, or `from` a snapshot or a root, at the cost of one small write. Close it after use; it also closes with the
   * handle that opened the store.
   */
  open(name: string, options?: BranchOptions): Promise<Db>;
  /**
   * Deletes a branch. Handles that stand on it, in any tab, fail with `not-found/branch` from then on; their watches
   * end with this error.
   */
  delete(name: string): Promise<void>;
  /**
   * Moves this handle, with its reads and writes, to the branch `name`. Earlier writes end first; rejects with
   * `blocked` while a writer is open.
   */
  switchTo(name: string): Promise<void>;
  /**
   * Brings the changes of another branch, since it was forked from this one or last merged with it, into this one, in
   * one commit. A key that both have changed, to different values, is a conflict, which `onConflict` decides; without
   * it there is no merge, and the error `conflict` has the `conflicts`. Indexes and sum trees stay the ones of this
   * branch, made of the merged rows.
   */
  merge(branch: string | Db, options?: MergeOptions): Promise<MergeResult>;
  /**
   * Returns what `merge` would do with a branch now: its changes and its conflicts. Does not write, and costs as much
   * reading. All conflicts are in memory, as in a merge, and 1,000 changes, or `limit`.
   */
  preview<Value = unknown>(
    branch: string | Db,
    options?: PreviewOptions,
  ): Promise<MergePreview<Value>>;
  /**
   * Moves the branch to an earlier commit, or to a commit of another branch: this undoes all later writes, also of
   * other tabs, at the cost of moving a pointer. `target` is a snapshot, a root, or the name of a branch. A root that
   * no snapshot and no branch holds may be gone, which is `missing-chunk`. The rows of a commit under other definitions
   * come back with the sum trees that this handle was opened with, or are refused; and with the indexes of that commit
   * and of this handle.
   */
  reset(target: string | Snapshot): Promise<void>;
}

export function createBranches<Db>(own: HandleAccess<Db>): StoreBranches<Db> {
  const { from, changes, durability } = own;
  const { branchHead } = from;
  return {
    get current() {
      return branchHead.branchName;
    },
    async list(options = {}) {
      own.checkOpen();
      return (await storeParts()).branches.listBranches(branchHead, options);
    },
    async open(name, options) {
      from.check();
      return (await storeParts()).openBranchHandle(own, name, options);
    },
    async delete(name) {
      own.checkOpen();
      const work = async () =>
        (await storeParts()).branches.deleteBranch(branchHead, name, durability);
      return changes.note(work());
    },
    async switchTo(name) {
      own.checkOpen();
      return (await storeParts()).switchBranch(own, name);
    },
    async merge(branch, options = {}) {
      from.check();
      const job = jobOf(own, 'branches.merge', options, MERGE_OPTIONS);
      const name = own.nameOf(branch);
      return runChange(own, job, job.onConflict !== undefined, async (job) =>
        (await storeParts()).merge.mergeBranch(branchHead, name, job),
      );
    },
    async preview(branch, options = {}) {
      from.check();
      const name = own.nameOf(branch);
      return runAbortable('branches.preview', options, PREVIEW_OPTIONS, async (wanted) =>
        (await storeParts()).merge.previewMerge(branchHead, name, wanted),
      ) as Promise<MergePreview<never>>;
    },
    async reset(target) {
      from.check();
      const job = { durability, alone: own.indexing.alone };
      const work = async () => (await storeParts()).resetTo(branchHead, target, job);
      await changes.note(work());
      own.settle();
    },
  };
}
