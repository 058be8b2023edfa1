/** Writes packs, which are read by `pack.ts`: apart from it, since few devices make any. */

import { joined } from '../../base/bytes.js';
import { turn } from '../../base/scheduler.js';
import { FieldWriter, unwritable } from './cursor.js';
import type { Deflate } from './deflate.js';
import { encodeDeltaBody } from './delta-body.js';
import { MAX_FRAMES, MAX_PACK_BYTES } from './limits.js';
import type { Scope } from './suite.js';

/** Streams of browsers deflate on the page's thread: after so many milliseconds it is the turn of others. */
const SLICE_MS = 4;

/** The object of a pack; `saltBytes` are 16 random bytes. The keys of the deltas ascend, from one to the next, too. */
export async function encodePack(
  deltas: readonly Uint8Array[],
  saltBytes: Uint8Array,
  deflate: Deflate,
  scope: Scope,
): Promise<Uint8Array> {
  const frames = deltas.length;
  if (frames < 1 || frames > MAX_FRAMES) throw unwritable('pack', `it has ${frames} frames`);
  const seal = await scope.suite.toWrite('pack', saltBytes, scope);
  const [count, table] = [new FieldWriter('pack'), new FieldWriter('pack')];
  count.u32(frames);
  const closed: Uint8Array[] = [];
  let turnMs = performance.now();
  for (const [nth, deltaBytes] of deltas.entries()) {
    const bodyBytes = await encodeDeltaBody(deltaBytes, deflate);
    const frameBytes = await seal.close(1 + nth, 1 + frames, bodyBytes);
    closed.push(frameBytes);
    table.u32(frameBytes.length);
    if (performance.now() - turnMs < SLICE_MS) continue;
    await turn();
    turnMs = performance.now();
  }
  const first = await seal.close(0, 1 + frames, table.done());
  const bytes = joined([seal.envelopeBytes, count.done(), first, ...closed]);
  if (bytes.length > MAX_PACK_BYTES) {
    throw unwritable('pack', `${bytes.length} bytes, at most ${MAX_PACK_BYTES} fit`);
  }
  return bytes;
}
