/** Changes of rows as the core tells them; what lies between two roots is in `differences.ts`. */

import type { EncodedRange, KeyRange } from '../base/range.js';
import * as reads from '../core/calls/reads.js';
import type { Op } from '../core/engine.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';

/** What became of a row; of an entry of an index, when that is watched. */
export type Change<Value = unknown> = (
  | { readonly op: 'add'; readonly newValue: Value }
  | { readonly op: 'change'; readonly oldValue: Value; readonly newValue: Value }
  | { readonly op: 'del'; readonly oldValue: Value }
) & {
  /** The key of the row. */
  readonly key: string;
  /** Of an index: what it lists the row under. */
  readonly secondary?: unknown;
};

/** Which changes a diff yields. */
export interface DiffOptions extends KeyRange {
  /** Ends the diff with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The change at `at` among the members of a block; a code tells how many it has. */
export function changeAt(members: readonly unknown[], at: number): Change {
  const [code, key, first] = [members[at], members[at + 1] as string, members[at + 2]];
  if (code === 0) return { op: 'add', key, newValue: first };
  if (code === 2) return { op: 'del', key, oldValue: first };
  return { op: 'change', key, oldValue: first, newValue: members[at + 3] };
}

/** How many members the change at `at` has. */
export function widthAt(members: readonly unknown[], at: number): number {
  return members[at] === 1 ? 4 : 3;
}

/** Takes the changes out of a block. */
export function* changesOf(members: unknown[]): Generator<Change, void, void> {
  for (let at = 0; at < members.length; at += widthAt(members, at)) yield changeAt(members, at);
}

/** Starts a diff of two commits, which the caller holds while it runs. */
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
    const op = reads.diff(engine, old.view, view, range);
    engine.closeView(view);
    return op;
  } finally {
    engine.closeView(old.view);
  }
}
