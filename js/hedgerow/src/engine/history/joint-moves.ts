/** The moves of several branches in one transaction of storage. */

import type { RefDrop, RefMove, SegmentRecord, WriteBatch } from '../../storage/segment-store.js';

/**
 * Writes segments, and moves refs; resolves to `false` if a ref is not where it should be. If the outcome is unknown,
 * calls `onUnknown` and rejects: the caller must then keep all segments that it has stored.
 */
export type JointWrite = (
  segments: readonly SegmentRecord[],
  also: readonly (RefMove | RefDrop)[],
  onUnknown?: () => void,
) => Promise<boolean>;

/** Adds other segments and refs to the move to a commit; `write` makes the move. */
export type Partner = (write: JointWrite, commitBytes: Uint8Array) => Promise<boolean>;

/** The other moves in the transaction of a commit. */
export interface JointMoves {
  /** Other refs to move together with the branch. */
  readonly also?: readonly (RefMove | RefDrop)[] | undefined;
  readonly partner?: Partner | undefined;
  /** The write of another branch, which makes this move. */
  readonly carrier?: JointWrite | undefined;
}

export interface MoveOptions extends JointMoves, Pick<WriteBatch, 'durability' | 'freesSpace'> {}
