/**
 * Merges one branch into another: by two diffs, the result has all changes of either since their last common ancestor.
 * A ref names the ancestor. A merge moves the ref to the merged commit, which both branches now contain: no change is
 * merged twice.
 */

import { checkSignal } from '../../base/abort-signal.js';
import { type Conflict, HedgerowError } from '../../base/errors.js';
import { compareKeys } from '../../base/key.js';
import { untilWon } from '../../base/pauses.js';
import type { BranchHead } from '../history/branch-head.js';
import { holdBranch, holdSides } from '../history/branch-refs.js';
import type { Change } from '../read/decode-diff.js';
import type { PreviewOptions } from './merge-options.js';
import {
  type ConflictDecisions,
  type MergeJob,
  type MergeViews,
  newValueOf,
  type Outcome,
  type Pair,
  ThreeWay,
} from './three-way.js';

/** The most changes in a preview by default. */
const MOST_CHANGES = 1000;

/** The result of a merge. */
export interface MergeResult {
  /** The new root of the target branch, in hexadecimal. */
  readonly root: string;
  /** The number of rows that changed in the target branch. */
  readonly rows: number;
  /** The number of keys that both branches had changed, to different values. */
  readonly conflicts: number;
}

/** The effect that a merge would have. */
export interface MergePreview<Value = unknown> {
  /** The first `limit` changes in this branch without conflicts, in the order of keys and in the form of `watch`. */
  readonly changes: readonly Change<Value>[];
  /** The number of all changes. */
  readonly changed: number;
  /** All conflicts, in the order of keys. A merge would pass these to `onConflict`. */
  readonly conflicts: readonly Conflict[];
}

/** Merges the branch `name` into the branch of `branchHead`. */
export async function mergeBranch(
  branchHead: BranchHead,
  name: string,
  job: MergeJob,
): Promise<MergeResult> {
  const { root, rows, conflicts } = await trying(branchHead, name, job, attempt);
  return { root, rows, conflicts };
}

/** Finds the effect that `mergeBranch` would have. */
export async function previewMerge(
  branchHead: BranchHead,
  name: string,
  { limit = MOST_CHANGES, signal }: PreviewOptions,
): Promise<MergePreview> {
  const job = { signal, durability: 'relaxed' } as const;
  return trying(branchHead, name, job, (merge) => merge.preview(limit));
}

/** Repeats `work` until no ref moves while it runs. */
async function trying<T>(
  branchHead: BranchHead,
  name: string,
  job: MergeJob,
  work: (merge: ThreeWay, tries: number) => Promise<T | undefined>,
): Promise<T> {
  const decisions: ConflictDecisions = new Map();
  return untilWon(async (tries) => {
    checkSignal(job.signal);
    // `onConflict` must not see an outdated head.
    await branchHead.shared.queueWork(() => branchHead.refresh());
    const theirs = await holdBranch(branchHead, name);
    try {
      if (branchHead.branchName === name) {
        throw new HedgerowError('invalid-argument', 'a branch cannot be merged into itself');
      }
      const hold = () => holdSides(branchHead, name, theirs.commitBytes);
      const way = { hold, pairs: bothChanged, otherwise: 'fail' } as const;
      return await work(new ThreeWay(branchHead, way, job, decisions), tries);
    } finally {
      theirs.release();
    }
  });
}

/** Runs one try. If other writers keep winning, they wait for the merge, but never for `onConflict`. */
export function attempt(merge: ThreeWay, tries: number): Promise<Outcome | undefined> {
  return tries < 2 || tries % 2 === 1 ? merge.run() : merge.runAlone();
}

/** Reads the changes of both sides in parallel. */
async function* bothChanged(reading: MergeViews): AsyncGenerator<Pair, void, void> {
  const { base, ours, theirs } = reading;
  const own = singly(reading.changes(base, ours));
  try {
    let mine = await own.next();
    for await (const change of singly(reading.changes(base, theirs))) {
      while (mine.done !== true && compareKeys(mine.value.key, change.key) < 0) {
        mine = await own.next();
      }
      const isBoth = mine.done !== true && mine.value.key === change.key;
      yield [change, isBoth ? { value: newValueOf(mine.value as Change) } : undefined];
    }
  } finally {
    await own.return();
  }
}

async function* singly(all: AsyncGenerator<Change[], void, void>): AsyncGenerator<Change, void> {
  for await (const changes of all) yield* changes;
}
