/**
 * Objects of frames: packs, whose frames are the edits of a generation, each a delta of its own; and nodes. Each frame is
 * deflated alone, so that a range of the object gives it. The salt makes the object's name one of its own.
 *
 *     frames:u16 | length of each:u32 | frames, each its length before deflating:u32 and the rest
 */

import { joined } from '../../base/bytes.js';
import type { ByteRange } from '../remote.js';
import { FieldWriter } from './cursor.js';
import type { Deflate, Inflate } from './deflate.js';
import { decodeDeltaBody, encodeDeltaBody } from './delta-body.js';
import { ENVELOPE_BYTES, unwrapped, wrapped } from './envelope.js';
import { MAX_PACK_BYTES } from './limits.js';

/** What an object of frames may be. */
export type FramedKind = 'pack' | 'nodes';

/** Where the frames of an object are, by their lengths. */
export function framesAt(lengths: readonly number[]): ByteRange[] {
  let from = ENVELOPE_BYTES + 2 + 4 * lengths.length;
  return lengths.map((length) => {
    const range = { from, to: from + length };
    from += length;
    return range;
  });
}

/** The object of some frames, at least one, and their lengths in it; `saltBytes` are 16 random bytes. */
export async function encodeFrames(
  object: FramedKind,
  frames: readonly Uint8Array[],
  saltBytes: Uint8Array,
  deflate: Deflate,
): Promise<{ readonly bytes: Uint8Array; readonly lengths: number[] }> {
  const deflated = await Promise.all(frames.map((frame) => encodeDeltaBody(frame, deflate)));
  const writer = new FieldWriter(object);
  const lengths = deflated.map(({ length }) => length);
  writer.u16(lengths.length);
  for (const length of lengths) writer.u32(length);
  const body = joined([writer.done(), ...deflated]);
  return { bytes: wrapped(object, saltBytes, body, MAX_PACK_BYTES), lengths };
}

/** The frames of an object, each in parts. Throws `invalid-remote`, or `unsupported-format`; so may the parts. */
export function decodeFrames(
  object: FramedKind,
  bytes: Uint8Array,
  inflate: Inflate,
): AsyncIterable<Uint8Array>[] {
  const { reader } = unwrapped(object, bytes, MAX_PACK_BYTES);
  const count = reader.u16();
  reader.check(count > 0, 'it has no frames', reader.at - 2);
  const lengths = Array.from({ length: count }, () => reader.u32());
  const frames = lengths.map((length) => reader.take(length));
  reader.end();
  return frames.map((frame) => decodeDeltaBody(frame, inflate, object));
}

/** The bytes in a frame that was read alone. They are not checked: whoever uses them must. */
export async function decodeFrame(
  object: FramedKind,
  frameBytes: Uint8Array,
  inflate: Inflate,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of decodeDeltaBody(frameBytes, inflate, object)) parts.push(part);
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : joined(parts);
}
