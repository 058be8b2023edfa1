/** Writes objects of frames, which `pack-read.ts` reads. A separate file, since few devices make any. */

import { concatBytes } from '../../../base/bytes.js';
import { turn } from '../../../base/slice-queue.js';
import type { Scope } from './cipher-suite.js';
import type { Deflate } from './deflate.js';
import { encodeDeltaBody } from './delta-body.js';
import { FieldWriter, unwritable } from './field-codec.js';
import { MAX_FRAMES, MAX_PACK_BYTES } from './format-limits.js';
import type { FramedKind, Front } from './pack-read.js';

/** Streams of browsers deflate on the page's thread: after so many milliseconds other work has its turn. */
const SLICE_MS = 4;

/** An object of frames, and its front for a directory. */
export interface FramedObject {
  readonly bytes: Uint8Array;
  readonly front: Front;
}

/**
 * Makes the object of some frames; `saltBytes` are 16 random bytes. Frames of a pack are deltas; their keys ascend,
 * also from one to the next.
 */
export async function encodeFrames(
  object: FramedKind,
  plainFrames: readonly Uint8Array[],
  saltBytes: Uint8Array,
  deflate: Deflate,
  scope: Scope,
): Promise<FramedObject> {
  const frames = plainFrames.length;
  if (frames < 1 || frames > MAX_FRAMES) throw unwritable(object, `it has ${frames} frames`);
  const seal = await scope.suite.toWrite(object, saltBytes, scope);
  const { envelopeBytes } = seal;
  const [count, table] = [new FieldWriter(object), new FieldWriter(object)];
  count.u32(frames);
  const closed: Uint8Array[] = [];
  let turnMs = performance.now();
  for (const [nth, plainBytes] of plainFrames.entries()) {
    const bodyBytes = await encodeDeltaBody(plainBytes, deflate);
    const frameBytes = await seal.close(1 + nth, 1 + frames, bodyBytes);
    closed.push(frameBytes);
    table.u32(frameBytes.length);
    if (performance.now() - turnMs < SLICE_MS) continue;
    await turn();
    turnMs = performance.now();
  }
  const first = await seal.close(0, 1 + frames, table.toBytes());
  const bytes = concatBytes([envelopeBytes, count.toBytes(), first, ...closed]);
  if (bytes.length > MAX_PACK_BYTES) {
    throw unwritable(object, `${bytes.length} bytes, at most ${MAX_PACK_BYTES} fit`);
  }
  return { bytes, front: { envelopeBytes, lengths: closed.map(({ length }) => length) } };
}
