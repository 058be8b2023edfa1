/**
 * The fence: the ref `collected`. A collection moves it at its start, and deletes only in transactions that check that
 * the fence has not moved since. So raising the fence ends all collections in progress, even the collection of a frozen
 * tab, without waiting. No two moves are the same, so that an ended collection stays ended.
 *
 * The ref names no commit. Its 32 bytes are the facts of the last collection, and random bytes that make each move
 * unique:
 *
 *     bytes live : f64 | bytes of values : f64 | rows : f64 | random : 8 bytes
 */

import { sameBytes } from '../../base/bytes.js';
import { isFull } from '../../base/errors.js';
import { FORMAT } from '../../base/limits.js';
import { untilWon } from '../../base/pauses.js';
import type { Ref, RefDrop, RefMove, SegmentStore } from '../../storage/segment-store.js';
import { EMPTY_COMMIT, FENCE_REF } from './known-segments-and-refs.js';
import { writeRefs } from './ref-write.js';

/** The facts that the last collection found. */
export interface Facts {
  /** Live bytes. */
  readonly live: number;
  /** Live bytes of values stored out of line, from the last collection that counted them. */
  readonly values: number;
  /** Rows of the main branch. */
  readonly rows: number;
}

/** Reads the facts from the bytes of the fence; zeros without a ref. */
export function factsOf(ref: Ref | undefined): Facts {
  const bytes = ref?.commitBytes ?? EMPTY_COMMIT;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = (offset: number) => Math.max(0, view.getFloat64(offset, true)) || 0;
  return { live: at(0), values: at(8), rows: at(16) };
}

/** Makes a move of the fence from `ref` to its next generation. */
export function fenceMove(ref: Ref | undefined, facts: Facts = factsOf(ref)): RefMove {
  // A retry must not take the move of another tab for its own.
  const { buffer } = crypto.getRandomValues(new Uint32Array(8));
  const view = new DataView(buffer);
  for (const [at, fact] of [facts.live, facts.values, facts.rows].entries()) {
    view.setFloat64(8 * at, fact, true);
  }
  const expected = ref?.generation ?? 0;
  const commitBytes = new Uint8Array(buffer);
  return { name: FENCE_REF, commitBytes, generation: expected + 1, format: FORMAT, expected };
}

/**
 * Ends all collections in progress; returns the move of the fence. If storage has no space for the move and the fence
 * is still at `own`, returns `own`: this handle made that move after a collection, and no other collection relies on
 * it.
 */
export async function raiseFence(segments: SegmentStore, own?: RefMove): Promise<RefMove> {
  return untilWon(async () => {
    const [last] = await segments.history(FENCE_REF);
    const move = fenceMove(last);
    try {
      const batch = { segments: [], move, durability: 'relaxed', freesSpace: true } as const;
      return (await writeRefs(segments, batch)) ? move : undefined;
    } catch (cause) {
      if (!isFull(cause) || !sameBytes(own?.commitBytes, last?.commitBytes)) throw cause;
      return own as RefMove;
    }
  });
}

/**
 * Ends all collections in progress. If storage has no space to raise the fence, deletes it: this has the same effect,
 * since no collection continues without the fence.
 */
export async function endCollections(segments: SegmentStore): Promise<void> {
  try {
    await raiseFence(segments);
  } catch (cause) {
    const [last] = await segments.history(FENCE_REF);
    if (!isFull(cause)) throw cause;
    if (last === undefined) return;
    const drop: RefDrop = { name: FENCE_REF, expected: last.generation, isDropped: true };
    const batch = { segments: [], also: [drop], durability: 'relaxed', freesSpace: true } as const;
    // If this fails, another handle has moved the fence, which has the same effect.
    await writeRefs(segments, batch);
  }
}
