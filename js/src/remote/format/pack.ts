/**
 * Reads packs, which `pack-write.ts` makes: some edits of a generation, in frames. Each frame is a delta of its own, deflated and closed, so that a reader
 * may fetch one of them, by the table at the front, and use it alone:
 *
 *     envelope | frames:u32 | part 0: length of each frame, u32 | parts 1 to `frames`: the frames
 *
 * Its salt makes its name one of its own.
 */

import { FieldReader, invalidRemote } from './cursor.js';
import type { Inflate } from './deflate.js';
import { decodeDeltaBody, deltaBodyLength } from './delta-body.js';
import { readEnvelope } from './envelope.js';
import { MAX_FRAMES, MAX_PACK_BYTES, MAX_PLAIN_DELTA_BYTES } from './limits.js';
import { openPart, type Scope } from './suite.js';

/** Frames that are opened before it is their turn, so that this happens beside the page. */
const AHEAD = 16;

/** The front of a pack: where its frames are, and what opens them. */
export interface PackTable {
  /** Where the pack ends. */
  readonly end: number;
  /** Where each frame begins, and its length. */
  readonly frames: readonly { readonly at: number; readonly length: number }[];
  /** The edits of a frame, as `decodeDeltaBody` takes them. Throws `invalid-remote`. */
  open(nth: number, frameBytes: Uint8Array): Promise<Uint8Array>;
}

/**
 * Reads the front of a pack, from its bytes or as many of the first as there are. Throws `invalid-remote`,
 * `unsupported-format` or `wrong-key`.
 */
export async function readPackTable(bytes: Uint8Array, scope: Scope): Promise<PackTable> {
  const { suite } = scope;
  const envelope = readEnvelope('pack', bytes);
  const seal = await suite.toRead('pack', envelope, scope);
  const begin = envelope.bytes.length;
  const front = new FieldReader('pack', bytes.subarray(begin), begin);
  const count = front.u32();
  front.check(count >= 1 && count <= MAX_FRAMES, `${count} frames`, begin);
  const { at: from } = front;
  const part = front.take(Math.min(suite.closedLength('pack', 4 * count), front.left));
  const tableBytes = await openPart('pack', suite, seal, [0, 1 + count], part, from);
  const table = new FieldReader('pack', tableBytes, from);
  let end = from + part.length;
  const frames = Array.from({ length: count }, () => {
    const { at: place } = table;
    const [at, length] = [end, table.u32()];
    end += length;
    table.check(end <= MAX_PACK_BYTES, `a frame of ${length} bytes`, place);
    return { at, length };
  });
  table.end();
  const open = (nth: number, frameBytes: Uint8Array) => {
    const at = frames[nth]?.at ?? 0;
    return openPart('pack', suite, seal, [1 + nth, 1 + count], frameBytes, at);
  };
  return { end, frames, open };
}

/**
 * The deltas of a pack, one after the other, each in parts. Throws `invalid-remote`, `unsupported-format` or
 * `wrong-key`; so may the parts. They have at most 16 MiB in all.
 */
export async function* decodePack(
  packBytes: Uint8Array,
  inflate: Inflate,
  scope: Scope,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, void> {
  if (packBytes.length > MAX_PACK_BYTES) {
    throw invalidRemote('pack', `${packBytes.length} bytes`, MAX_PACK_BYTES);
  }
  const { frames, end, open } = await readPackTable(packBytes, scope);
  if (end !== packBytes.length) {
    throw invalidRemote(
      'pack',
      `${packBytes.length} bytes, of ${end}`,
      Math.min(end, packBytes.length),
    );
  }
  let left = MAX_PLAIN_DELTA_BYTES;
  const begin = async (nth: number, { at, length }: (typeof frames)[number]) => {
    const bodyBytes = await open(nth, packBytes.subarray(at, at + length));
    left -= deltaBodyLength(bodyBytes);
    if (left < 0) throw invalidRemote('pack', 'its edits are too long', at);
    return decodeDeltaBody(bodyBytes, inflate);
  };
  const ahead: Promise<AsyncIterable<Uint8Array>>[] = [];
  for (const [nth, frame] of frames.entries()) {
    const begun = begin(nth, frame);
    // A failure is told when its turn comes.
    begun.catch(() => {});
    ahead.push(begun);
    if (ahead.length > AHEAD) yield await (ahead.shift() as (typeof ahead)[number]);
  }
  for (const begun of ahead) yield await begun;
}
