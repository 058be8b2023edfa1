/**
 * The fence: the generation of the ref `collected`. Each deletion of a collection moves it on, and is
 * refused if anybody else has moved it since the collection began. So to raise the fence is to end all
 * collections under way, also that of a tab which is frozen in the middle of one, and nobody waits.
 *
 * The ref points at no commit. Its 32 bytes are what the last collection found, and a number that tells
 * each move from all others:
 *
 *     bytes live : f64 | bytes of values : f64 | rows : f64 | random : 8 bytes
 */
import { HedgerowError } from './errors.js';
import { FENCE_REF } from './inventory.js';
import { FORMAT, MAX_COMMIT_TRIES } from './limits.js';
import type { Ref, RefMove, SegmentStore } from './segment-store.js';

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
  const bytes = ref?.commitBytes ?? new Uint8Array(32);
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

/** Ends all collections under way; returns where the fence stands then. */
export async function raiseFence(segments: SegmentStore): Promise<RefMove> {
  for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
    const [last] = await segments.history(FENCE_REF);
    const move = fenceMove(last);
    if (await segments.write({ segments: [], move, durability: 'relaxed' })) return move;
  }
  throw new HedgerowError('conflict', `lost the race for the fence ${MAX_COMMIT_TRIES} times`);
}
