/**
 * The directory of a layer, for a reader of only some of its rows. It lists the frames of its packs with their
 * first keys, and the frames of its new internal nodes; and it has the nodes of its highest levels.
 *
 *     length before deflating:u32 | deflated:
 *     packs:u16 | pack ...     pack     envelope | frames:u16 | (length:u32 | shared:u16 | rest:u16 | rest of the first key) ...
 *     objects:u16 | nodes ...  nodes    envelope | frames:u16 | (length:u32 | nodes:u16 | (start of its hash:4) ...) ...
 *     records of nodes, to the end: see `crate/src/lazy/land.rs`
 *
 * Each envelope is the object's, so that a frame can be opened without its front.
 */

import { concatBytes } from '../../../base/bytes.js';
import { MAX_KEY_BYTES } from '../../../base/limits.js';
import type { Scope } from './cipher-suite.js';
import type { Deflate, Inflate } from './deflate.js';
import { encodeDeltaBody, wholeDeltaBody } from './delta-body.js';
import { readEnvelope } from './envelope.js';
import { FieldReader, FieldWriter, NO_BYTES } from './field-codec.js';
import { MAX_PACK_BYTES } from './format-limits.js';
import { type FramedKind, type Front, readFrameCount } from './pack-read.js';
import { unwrapObject, wrapObject } from './single-part-object.js';

/** A pack: its front, and the key of the first edit of each frame. */
export interface RowFrames extends Front {
  readonly firstKeys: readonly Uint8Array[];
}

/** An object of nodes: its front, and the first 4 bytes of the hash of each node of each frame, as numbers. */
export interface NodeFrames extends Front {
  readonly starts: readonly (readonly number[])[];
}

export interface Directory {
  /** For each pack of the layer. */
  readonly packs: readonly RowFrames[];
  /** For each object of nodes. */
  readonly nodes: readonly NodeFrames[];
  /** Records of the nodes of the levels above the first, and of the top. */
  readonly topBytes: Uint8Array;
}

/** Returns the first 4 bytes of a hash, as a number. */
export function hashPrefix(hashBytes: Uint8Array): number {
  const { buffer, byteOffset } = hashBytes;
  return new DataView(buffer, byteOffset, 4).getUint32(0, true);
}

function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/** Makes the object of a directory; `saltBytes` are 16 random bytes. */
export async function encodeDirectory(
  { packs, nodes, topBytes }: Directory,
  saltBytes: Uint8Array,
  deflate: Deflate,
  scope: Scope,
): Promise<Uint8Array> {
  const writer = new FieldWriter('directory');
  writer.u16(packs.length);
  let before = NO_BYTES;
  for (const { envelopeBytes, lengths, firstKeys } of packs) {
    writer.bytes(envelopeBytes);
    writer.u16(lengths.length);
    for (const [nth, length] of lengths.entries()) {
      const key = firstKeys[nth] as Uint8Array;
      const shared = sharedBytes(before, key);
      writer.u32(length);
      writer.u16(shared);
      writer.u16(key.length - shared);
      writer.bytes(key.subarray(shared));
      before = key;
    }
  }
  writer.u16(nodes.length);
  for (const { envelopeBytes, lengths, starts } of nodes) {
    writer.bytes(envelopeBytes);
    writer.u16(lengths.length);
    for (const [nth, length] of lengths.entries()) {
      const own = starts[nth] as readonly number[];
      writer.u32(length);
      writer.u16(own.length);
      for (const start of own) writer.u32(start);
    }
  }
  writer.bytes(topBytes);
  const body = await encodeDeltaBody(writer.toBytes(), deflate);
  return wrapObject('directory', saltBytes, body, MAX_PACK_BYTES, scope);
}

/**
 * Reads a directory. Rejects with `remote/data`, `newer-version/format` or `wrong-key`. Checks neither the records of
 * nodes, nor whether the frames belong to the layer.
 */
export async function decodeDirectory(
  bytes: Uint8Array,
  inflate: Inflate,
  scope: Scope,
): Promise<Directory> {
  const { reader: whole } = await unwrapObject('directory', bytes, MAX_PACK_BYTES, scope);
  const plain = await wholeDeltaBody(whole.take(whole.left), inflate, 'directory');
  const reader = new FieldReader('directory', plain);
  const { envelopeLength } = scope.suite;
  /** Reads the front of an object, and the result of `more` after the length of each frame. */
  const readFront = <T>(object: FramedKind, more: () => T): Front & { readonly more: T[] } => {
    const { at } = reader;
    const envelopeBytes = reader.take(envelopeLength);
    const { bytes: own } = readEnvelope(object, envelopeBytes, 'directory', at);
    reader.check(own.length === envelopeLength, 'it is of another suite', at);
    const lengths: number[] = [];
    const all = times(
      readFrameCount(reader, () => reader.u16()),
      () => {
        lengths.push(reader.u32());
        return more();
      },
    );
    return { envelopeBytes, lengths, more: all };
  };
  let before: Uint8Array | undefined;
  const firstKey = (): Uint8Array => {
    const { at } = reader;
    const [shared, length] = [reader.u16(), reader.u16()];
    const last = before ?? NO_BYTES;
    reader.check(shared <= last.length, `${shared} bytes shared`, at);
    reader.check(shared + length <= MAX_KEY_BYTES, `a key of ${shared + length} bytes`, at);
    const rest = reader.take(length);
    // A key shares all bytes that it can, and comes after the one before.
    const isNext = shared === last.length || (rest[0] ?? 0) > (last[shared] as number);
    reader.check(before === undefined || (length > 0 && isNext), 'keys do not ascend', at);
    before = concatBytes([last.subarray(0, shared), rest]);
    return before;
  };
  const packs = times(reader.u16(), (): RowFrames => {
    const { more: firstKeys, ...front } = readFront('pack', firstKey);
    return { ...front, firstKeys };
  });
  const nodes = times(reader.u16(), (): NodeFrames => {
    const { more: starts, ...front } = readFront('nodes', () => {
      const { at } = reader;
      const count = reader.u16();
      reader.check(count > 0, 'a frame without nodes', at);
      return times(count, () => reader.u32());
    });
    return { ...front, starts };
  });
  return { packs, nodes, topBytes: reader.take(reader.left) };
}

function times<T>(count: number, make: () => T): T[] {
  const made: T[] = [];
  while (made.length < count) made.push(make());
  return made;
}
