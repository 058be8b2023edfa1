/** Changes of rows, decoded from the output of the core. `diff-two-roots.ts` has the diff of two roots. */

import type { EncodedRange, KeyRange } from '../../base/range.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Op } from '../../core/engine.js';
import type { Host } from '../../core/operation-host.js';
import type { BranchHead } from '../history/branch-head.js';

/** A change of a row, or of an index entry where an index is watched. */
export type Change<Value = unknown> = (
  | { readonly op: 'insert'; readonly newValue: Value }
  | { readonly op: 'update'; readonly oldValue: Value; readonly newValue: Value }
  | { readonly op: 'delete'; readonly oldValue: Value }
) & {
  /** The key of the row. */
  readonly key: string;
  /** Of an index, the secondary key of the entry. */
  readonly secondary?: unknown;
};

/** Options of a diff. */
export interface DiffOptions extends KeyRange {
  /** Ends the diff with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads the change that begins at `at` in the members of a block. Its first member is its kind. */
export function changeAt(members: readonly unknown[], at: number): Change {
  const [code, key, first] = [members[at], members[at + 1] as string, members[at + 2]];
  if (code === 0) return { op: 'insert', key, newValue: first };
  if (code === 2) return { op: 'delete', key, oldValue: first };
  return { op: 'update', key, oldValue: first, newValue: members[at + 3] };
}

/** Returns the number of members of the change at `at`. */
export function widthAt(members: readonly unknown[], at: number): number {
  return members[at] === 1 ? 4 : 3;
}

/** Reads the changes in a block. */
export function* changesOf(members: unknown[]): Generator<Change, void, void> {
  for (let at = 0; at < members.length; at += widthAt(members, at)) yield changeAt(members, at);
}

/** Starts a diff of two commits. The caller must hold both until it ends. */
export async function startDiff(
  { engine }: Host,
  branchHead: BranchHead,
  from: Uint8Array,
  to: Uint8Array,
  range: EncodedRange,
): Promise<Op> {
  const old = await branchHead.shared.openView(from);
  try {
    const { view } = await branchHead.shared.openView(to);
    const op = reads.diffViews(engine, old.view, view, range);
    engine.closeView(view);
    return op;
  } finally {
    engine.closeView(old.view);
  }
}
