/**
 * The fence: where the ref `collected` stands. A collection begins by moving it, and what it deletes is
 * deleted in transactions that look whether it stands there still. So to raise the fence is to end
 * all collections under way, also that of a tab which is frozen in the middle of one, and nobody waits.
 * No two moves are the same, so that a collection that is over stays over.
 *
 * The ref points at no commit. Its 32 bytes are what the last collection found, and a number that tells
 * each move from all others:
 *
 *     bytes live : f64 | bytes of values : f64 | rows : f64 | random : 8 bytes
 */

import { sameBytes } from '../base/bytes.js';
import { isFull } from '../base/errors.js';
import { FORMAT } from '../base/limits.js';
import { untilWon } from '../base/timeout.js';
import type { Ref, RefDrop, RefMove, SegmentStore } from '../storage/segment-store.js';
import { EMPTY_COMMIT, FENCE_REF } from './inventory.js';
import { writeRefs } from './ref-write.js';

/** What the last collection found. */
export interface Facts {
  /** Bytes that were live. */
  readonly live: number;
  /** Bytes that were live of values stored out of line, when that was last known. */
  readonly values: number;
  /** Rows of the main branch. */
  readonly rows: number;
}

/** What a ref tells; nothing is known without one. */
export function factsOf(ref: Ref | undefined): Facts {
  const bytes = ref?.commitBytes ?? EMPTY_COMMIT;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = (offset: number) => Math.max(0, view.getFloat64(offset, true)) || 0;
  return { live: at(0), values: at(8), rows: at(16) };
}

/** A move of the fence from where `ref` stands. */
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
 * Ends all collections under way; returns where the fence stands then. Where there is no room for that, `own`
 * will do if it stands there still: where this handle left it after a collection, nobody else relies on that.
 */
export async function raiseFence(segments: SegmentStore, own?: RefMove): Promise<RefMove> {
  return untilWon(async () => {
    const [last] = await segments.history(FENCE_REF);
    const move = fenceMove(last);
    try {
      const batch = { segments: [], move, durability: 'relaxed', makesRoom: true } as const;
      return (await writeRefs(segments, batch)) ? move : undefined;
    } catch (cause) {
      if (!isFull(cause) || !sameBytes(own?.commitBytes, last?.commitBytes)) throw cause;
      return own as RefMove;
    }
  });
}

/**
 * Ends all collections under way. Where there is no room to raise the fence it is deleted, which is as
 * good, since no collection goes on without one.
 */
export async function endCollections(segments: SegmentStore): Promise<void> {
  try {
    await raiseFence(segments);
  } catch (cause) {
    const [last] = await segments.history(FENCE_REF);
    if (!isFull(cause)) throw cause;
    if (last === undefined) return;
    const drop: RefDrop = { name: FENCE_REF, expected: last.generation, isDropped: true };
    const batch = { segments: [], also: [drop], durability: 'relaxed', makesRoom: true } as const;
    // If somebody was quicker, it was moved.
    await writeRefs(segments, batch);
  }
}
