/** A store as the tests of deltas use it: the head of its branch, which its handle keeps private. */

import { vi } from 'vitest';
import { unhex } from '../../src/base/hex.js';
import { BranchHead } from '../../src/engine/history/branch-head.js';
import type { Store } from '../../src/index.js';
import { applyDeltas, type MadeDelta, makeDelta, readRowsRoot } from '../../src/sync/link/delta.js';

/** Returns the branch head of a handle: a snapshot uses it in the turn of its call, in which no other code runs. */
export function headOf(db: Store): BranchHead {
  const spy = vi.spyOn(BranchHead.prototype, 'useView');
  try {
    db.snapshot().close();
    const branchHead = spy.mock.contexts[0];
    if (!(branchHead instanceof BranchHead)) throw new Error('the handle has used no view');
    return branchHead;
  } finally {
    spy.mockRestore();
  }
}

/** Returns the delta between two roots of a store. */
export async function deltaOf(db: Store, from: string, to: string): Promise<MadeDelta> {
  const { shared } = headOf(db);
  const [old, now] = [from, to].map(unhex) as [Uint8Array, Uint8Array];
  const delta = await makeDelta(shared, old, now);
  if (delta === 'too-long') throw new Error('a delta without a limit is too long');
  return delta;
}

/** Applies deltas to the head of a store, which must then have the rows of the last one. */
export async function applied(db: Store, deltas: readonly MadeDelta[]) {
  const branchHead = headOf(db);
  const after = deltas.at(-1)?.after ?? (await readRowsRoot(branchHead.shared, unhex(db.root)));
  return applyDeltas(branchHead, {
    deltas: deltas.map(({ deltaBytes }) => deltaBytes),
    after,
    onto: unhex(db.root),
    durability: 'relaxed',
  });
}

export { unhex };
