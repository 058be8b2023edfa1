/** Heads whose moves share a transaction of storage. */
import { FORMAT } from '../base/limits.js';
import { BranchHead } from '../history/branch-head.js';
import type { RefMove, SegmentRecord, WriteBatch } from '../storage/segment-store.js';

/** Writes segments, and moves refs; `false` if one of the refs is not where it should be. */
export type JointWrite = (
  segments: readonly SegmentRecord[],
  also: readonly RefMove[],
) => Promise<boolean>;

/** Adds to a move what moves with it; `write` makes the move. */
export type Partner = (write: JointWrite, commitBytes: Uint8Array) => Promise<boolean>;

/** A head whose moves have a partner: it adds what moves with them. */
export class JointHead extends BranchHead {
  partner: Partner | undefined;

  override move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    options: Pick<WriteBatch, 'durability' | 'also' | 'makesRoom'>,
    onUnknown?: () => void,
  ): Promise<boolean> {
    const write: JointWrite = (more, others) => {
      const also = [...(options.also ?? []), ...others];
      const all = [...segments, ...more];
      return super.move(commitBytes, all, { ...options, also }, onUnknown);
    };
    return this.partner === undefined ? write([], []) : this.partner(write, commitBytes);
  }
}

/** The head of the queue. It never moves by itself: another write carries its segments and its move. */
export class QueueHead extends BranchHead {
  write: JointWrite = async () => false;

  override async move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
  ): Promise<boolean> {
    this.checkThere();
    const { generation: expected } = this.head;
    const generation = expected + 1;
    const move = { name: this.ref, commitBytes, generation, format: FORMAT, expected };
    if (!(await this.write(segments, [move]))) return false;
    for (const { id } of segments) this.inventory.stored(id);
    this.inventory.moved([move]);
    this.shared.announce(this.ref, generation);
    return true;
  }
}
