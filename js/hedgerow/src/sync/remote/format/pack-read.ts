/**
 * Reads objects of frames, which `pack-write.ts` makes: packs, whose frames are the edits of a layer, each a
 * separate delta; and nodes, whose frames are records of internal nodes. Each frame is deflated and closed, so that a
 * reader may fetch one of them, by the table at the front or by the directory of the layer, and use it alone:
 *
 *     envelope | frames:u32 | part 0: length of each frame, u32 | parts 1 to `frames`: the frames
 *
 * The salt of an object makes its name unique.
 */

import { type ObjectSeal, openPart, type Scope, type Suite } from './cipher-suite.js';
import type { Inflate } from './deflate.js';
import { decodeDeltaBody, deltaBodyLength } from './delta-body.js';
import { readEnvelope } from './envelope.js';
import { FieldReader, invalidRemote } from './field-codec.js';
import { MAX_FRAMES, MAX_PACK_BYTES, MAX_PLAIN_DELTA_BYTES } from './format-limits.js';

/** Frames that are opened before their turn, while the page does other work. */
const AHEAD = 16;

/** The kinds of objects of frames. */
export type FramedKind = 'pack' | 'nodes';

/** The start of an object of frames, as its table or a directory has it. */
export interface Front {
  readonly envelopeBytes: Uint8Array;
  /** The stored length of each frame. */
  readonly lengths: readonly number[];
}

/** The place of a frame in its object. */
export interface FramePlace {
  readonly at: number;
  readonly length: number;
}

/** Opens a frame for `decodeDeltaBody`. Rejects with `remote/data`. */
export type OpenFrame = (nth: number, frameBytes: Uint8Array) => Promise<Uint8Array>;

/** The front of a pack: the places of its frames, and their opener. */
export interface PackTable {
  /** Where the pack ends. */
  readonly end: number;
  readonly frames: readonly FramePlace[];
  readonly open: OpenFrame;
}

/** Finds where the frames of an object are, and where it ends. */
export function framesAt(
  object: FramedKind,
  { envelopeBytes, lengths }: Front,
  suite: Suite,
): Omit<PackTable, 'open'> {
  let end = envelopeBytes.length + 4 + suite.closedLength(object, 4 * lengths.length);
  const frames = lengths.map((length) => {
    const at = end;
    end += length;
    return { at, length };
  });
  return { end, frames };
}

/** Makes the opener of an object's frames from its front. Rejects with `wrong-key` and the errors of `readEnvelope`. */
export async function frameOpener(
  object: FramedKind,
  front: Front,
  scope: Scope,
): Promise<OpenFrame> {
  const { suite } = scope;
  const envelope = readEnvelope(object, front.envelopeBytes);
  const seal = await suite.toRead(object, envelope, scope);
  return openerBy(object, suite, seal, framesAt(object, front, suite).frames);
}

function openerBy(
  object: FramedKind,
  suite: Suite,
  seal: ObjectSeal,
  frames: readonly FramePlace[],
): OpenFrame {
  return (nth, frameBytes) => {
    const at = frames[nth]?.at ?? 0;
    return openPart(object, suite, seal, [1 + nth, 1 + frames.length], frameBytes, at);
  };
}

/**
 * Reads the front of an object, from all of its bytes or only the first ones. Throws `remote/data`,
 * `newer-version/format` or `wrong-key`.
 */
export async function readPackTable(
  bytes: Uint8Array,
  scope: Scope,
  object: FramedKind = 'pack',
): Promise<PackTable> {
  const { suite } = scope;
  const envelope = readEnvelope(object, bytes);
  const seal = await suite.toRead(object, envelope, scope);
  const begin = envelope.bytes.length;
  const reader = new FieldReader(object, bytes.subarray(begin), begin);
  const count = readFrameCount(reader, () => reader.u32());
  const { at: from } = reader;
  const part = reader.take(Math.min(suite.closedLength(object, 4 * count), reader.left));
  const tableBytes = await openPart(object, suite, seal, [0, 1 + count], part, from);
  const table = new FieldReader(object, tableBytes, from);
  let end = from + part.length;
  const lengths = Array.from({ length: count }, () => {
    const { at: place } = table;
    const length = table.u32();
    end += length;
    table.check(end <= MAX_PACK_BYTES, `a frame of ${length} bytes`, place);
    return length;
  });
  table.end();
  const places = framesAt(object, { envelopeBytes: envelope.bytes, lengths }, suite);
  return { ...places, open: openerBy(object, suite, seal, places.frames) };
}

/** Reads the number of frames of an object, and refuses a number that no object has. */
export function readFrameCount(reader: FieldReader, read: () => number): number {
  const { at } = reader;
  const count = read();
  reader.check(count >= 1 && count <= MAX_FRAMES, `${count} frames`, at);
  return count;
}

/**
 * Yields the frames of an object, each in parts: the deltas of a pack. Throws `remote/data`, `newer-version/format` or
 * `wrong-key`; so may the parts. They have at most 16 MiB in all.
 */
export async function* decodePack(
  packBytes: Uint8Array,
  inflate: Inflate,
  scope: Scope,
  object: FramedKind = 'pack',
): AsyncGenerator<AsyncIterable<Uint8Array>, void, void> {
  const { length } = packBytes;
  if (length > MAX_PACK_BYTES) throw invalidRemote(object, `${length} bytes`, MAX_PACK_BYTES);
  const { frames, end, open } = await readPackTable(packBytes, scope, object);
  if (end !== length) {
    throw invalidRemote(object, `${length} bytes, of ${end}`, Math.min(end, length));
  }
  let left = MAX_PLAIN_DELTA_BYTES;
  const begin = async (nth: number, { at, length: frameLength }: FramePlace) => {
    const bodyBytes = await open(nth, packBytes.subarray(at, at + frameLength));
    left -= deltaBodyLength(bodyBytes, object);
    if (left < 0) throw invalidRemote(object, 'its frames are too long', at);
    return decodeDeltaBody(bodyBytes, inflate, object);
  };
  const ahead: Promise<AsyncIterable<Uint8Array>>[] = [];
  for (const [nth, frame] of frames.entries()) {
    const begun = begin(nth, frame);
    // A failure is reported when its turn comes.
    begun.catch(() => {});
    ahead.push(begun);
    if (ahead.length > AHEAD) yield await (ahead.shift() as (typeof ahead)[number]);
  }
  for (const begun of ahead) yield await begun;
}
