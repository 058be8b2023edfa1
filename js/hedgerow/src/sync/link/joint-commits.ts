/** Commits of two branches that share a transaction of storage. */
import type { BranchHead } from '../../engine/history/branch-head.js';
import type { JointWrite, Partner } from '../../engine/history/joint-moves.js';
import type { OwnEdits } from '../../engine/transaction/edits.js';
import { tryEdits } from '../../engine/write/try-edits.js';
import type { Durability, RefMove } from '../../storage/segment-store.js';

/**
 * Makes `commit` with a partner that moves another branch by its write. A commit without a change moves no ref: then
 * `move` moves the other branch alone.
 */
export async function commitTogether<T>(
  move: (carrier?: JointWrite) => Promise<boolean>,
  commit: (partner: Partner) => Promise<T | undefined>,
): Promise<T | undefined> {
  let isMoved = false;
  const made = await commit(async (write) => {
    isMoved = await move(write);
    return isMoved;
  });
  if (made === undefined || isMoved) return made;
  return (await move()) ? made : undefined;
}

/**
 * Commits edits of a branch by the write of another one, or alone, and moves the refs of `also` with it. Resolves to
 * the commit, or to `undefined` if another writer was first.
 */
export async function commitCarried(
  head: BranchHead,
  edits: OwnEdits,
  durability: Durability,
  carrier: JointWrite | undefined,
  also: readonly RefMove[] = [],
): Promise<Uint8Array | undefined> {
  const { generation } = head.head;
  const joint = { carrier, also };
  const made = await tryEdits(head.shared.host, head, durability, edits.blocks(), joint);
  if (made === undefined) return undefined;
  const { commitBytes } = made;
  const isJoint = carrier !== undefined || also.length > 0;
  // Edits without a change move no ref. The other moves must be made all the same.
  if (isJoint && head.head.generation === generation) {
    if (!(await head.move(commitBytes, [], { durability, ...joint }))) return undefined;
    await head.moveOnto(commitBytes, generation + 1);
  }
  head.inventory.noteMoves(also);
  return commitBytes;
}
