/** Heads whose moves share a transaction of storage. */
import { FORMAT } from '../../base/limits.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { writeRefs } from '../../engine/history/ref-write.js';
import type { OwnEdits } from '../../engine/transaction/edits.js';
import { tryEdits } from '../../engine/write/try-edits.js';
import type {
  Durability,
  RefMove,
  SegmentRecord,
  WriteBatch,
} from '../../storage/segment-store.js';

/** Writes segments, and moves refs; `false` if a ref is not where it should be. */
export type LinkedWrite = (
  segments: readonly SegmentRecord[],
  also: readonly RefMove[],
) => Promise<boolean>;

/** Adds other segments and refs to a move; `write` makes the move. */
export type Partner = (write: LinkedWrite, commitBytes: Uint8Array) => Promise<boolean>;

/** A head whose moves have a partner, which adds other segments and refs to them. */
export class LinkedHead extends BranchHead {
  partner: Partner | undefined;

  /** Makes `move` go along with the move of this head by `commit`; `alone` is for a commit that moves no ref. */
  async together<T>(
    move: Partner,
    alone: () => Promise<boolean>,
    commit: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let isMoved = false;
    this.partner = async (...how) => {
      isMoved = await move(...how);
      return isMoved;
    };
    try {
      const made = await commit();
      if (made === undefined || isMoved) return made;
      return (await alone()) ? made : undefined;
    } finally {
      this.partner = undefined;
    }
  }

  override move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
    options: Pick<WriteBatch, 'durability' | 'also' | 'freesSpace'>,
    onUnknown?: () => void,
  ): Promise<boolean> {
    const write: LinkedWrite = (more, others) => {
      const also = [...(options.also ?? []), ...others];
      const all = [...segments, ...more];
      return super.move(commitBytes, all, { ...options, also }, onUnknown);
    };
    return this.partner === undefined ? write([], []) : this.partner(write, commitBytes);
  }
}

/** The head of the queue. It never moves by itself: another write carries its segments and its move. */
export class QueueHead extends BranchHead {
  #write: LinkedWrite = async () => false;

  /**
   * Commits edits of it by `joint`, or alone, with moves `along`. Resolves to the commit, or to `undefined` if another
   * writer was first.
   */
  async commit(
    edits: OwnEdits,
    durability: Durability,
    joint: LinkedWrite | undefined,
    along: readonly RefMove[] = [],
  ): Promise<Uint8Array | undefined> {
    const write = joint ?? this.#alone(durability);
    let isWritten = joint === undefined && along.length === 0;
    this.#write = (segments, also) => {
      isWritten = true;
      return write(segments, [...also, ...along]);
    };
    const made = await tryEdits(this.shared.host, this, durability, edits.blocks());
    if (made === undefined) return undefined;
    const { commitBytes } = made;
    // Edits without a change move no ref. The write of the other head must be made all the same.
    if (!isWritten && !(await this.#moveOntoItself(commitBytes))) return undefined;
    this.inventory.noteMoves(along);
    return commitBytes;
  }

  async #moveOntoItself(commitBytes: Uint8Array): Promise<boolean> {
    const { generation } = this.head;
    const isMoved = await this.move(commitBytes, []);
    if (isMoved) await this.moveOnto(commitBytes, generation + 1);
    return isMoved;
  }

  #alone(durability: Durability): LinkedWrite {
    const { segments } = this.shared.host;
    return async (made, also) =>
      (await writeRefs(segments, { segments: made, also, durability })) !== false;
  }

  override async move(
    commitBytes: Uint8Array,
    segments: readonly SegmentRecord[],
  ): Promise<boolean> {
    this.checkThere();
    const { generation: expected } = this.head;
    const generation = expected + 1;
    const move = { name: this.ref, commitBytes, generation, format: FORMAT, expected };
    if (!(await this.#write(segments, [move]))) return false;
    for (const { id } of segments) this.inventory.markStored(id);
    this.inventory.noteMoves([move]);
    this.shared.announce(this.ref, generation);
    return true;
  }
}
