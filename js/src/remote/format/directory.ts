/**
 * The directory of a generation: what a reader needs that wants some rows of it and not all. It tells where the frames of
 * its packs begin in the order of keys, in which frames its new internal nodes are, and has those of its highest levels.
 *
 *     length before deflating:u32 | deflated:
 *     packs:u16 | pack ...     pack     frames:u16 | (length:u32 | shared:u16 | rest:u16 | rest of the first key) ...
 *     objects:u16 | nodes ...  nodes    frames:u16 | (length:u32 | nodes:u16 | (start of its hash:4) ...) ...
 *     records of nodes, to the end: see `crate/src/lazy/land.rs`
 */

import { joined } from '../../base/bytes.js';
import { FieldReader, FieldWriter } from './cursor.js';
import type { Deflate, Inflate } from './deflate.js';
import { decodeDeltaBody, encodeDeltaBody } from './delta-body.js';
import { unwrapped, wrapped } from './envelope.js';
import { MAX_PACK_BYTES } from './limits.js';

/** A frame of edits. */
export interface RowFrame {
  /** Its length in the pack. */
  readonly length: number;
  /** The key of its first edit. */
  readonly firstKey: Uint8Array;
}

/** A frame of nodes. */
export interface NodeFrame {
  readonly length: number;
  /** The first 4 bytes of the hash of each node, as a number. */
  readonly starts: readonly number[];
}

export interface Directory {
  /** For each pack of the generation. */
  readonly packs: readonly (readonly RowFrame[])[];
  /** For each object of nodes. */
  readonly nodes: readonly (readonly NodeFrame[])[];
  /** Records of the nodes of the levels above the first, and of the top. */
  readonly topBytes: Uint8Array;
}

/** What begins a hash, as a number. */
export function startOf(hashBytes: Uint8Array): number {
  const { buffer, byteOffset } = hashBytes;
  return new DataView(buffer, byteOffset, 4).getUint32(0, true);
}

function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/** The object of a directory; `saltBytes` are 16 random bytes. */
export async function encodeDirectory(
  { packs, nodes, topBytes }: Directory,
  saltBytes: Uint8Array,
  deflate: Deflate,
): Promise<Uint8Array> {
  const writer = new FieldWriter('directory');
  writer.u16(packs.length);
  let before: Uint8Array = new Uint8Array();
  for (const frames of packs) {
    writer.u16(frames.length);
    for (const { length, firstKey } of frames) {
      const shared = sharedBytes(before, firstKey);
      writer.u32(length);
      writer.u16(shared);
      writer.u16(firstKey.length - shared);
      writer.bytes(firstKey.subarray(shared));
      before = firstKey;
    }
  }
  writer.u16(nodes.length);
  for (const frames of nodes) {
    writer.u16(frames.length);
    for (const { length, starts } of frames) {
      writer.u32(length);
      writer.u16(starts.length);
      for (const start of starts) writer.u32(start);
    }
  }
  writer.bytes(topBytes);
  const body = await encodeDeltaBody(writer.done(), deflate);
  return wrapped('directory', saltBytes, body, MAX_PACK_BYTES);
}

/** Reads a directory. Rejects with `invalid-remote`, or `unsupported-format`. The records of nodes are not checked. */
export async function decodeDirectory(bytes: Uint8Array, inflate: Inflate): Promise<Directory> {
  const { reader: whole } = unwrapped('directory', bytes, MAX_PACK_BYTES);
  const parts: Uint8Array[] = [];
  const body = decodeDeltaBody(whole.take(whole.left), inflate, 'directory');
  for await (const part of body) parts.push(part);
  const plain = joined(parts);
  const reader = new FieldReader('directory', plain, 0, plain.length);
  let before: Uint8Array = new Uint8Array();
  const rowFrame = (): RowFrame => {
    const length = reader.u32();
    const shared = reader.u16();
    reader.check(shared <= before.length, `${shared} bytes shared`, reader.at - 2);
    before = joined([before.subarray(0, shared), reader.take(reader.u16())]);
    return { length, firstKey: before };
  };
  const nodeFrame = (): NodeFrame => {
    const length = reader.u32();
    return { length, starts: times(reader.u16(), () => reader.u32()) };
  };
  const packs = times(reader.u16(), () => times(reader.u16(), rowFrame));
  const nodes = times(reader.u16(), () => times(reader.u16(), nodeFrame));
  return { packs, nodes, topBytes: reader.take(reader.left) };
}

function times<T>(count: number, make: () => T): T[] {
  const made: T[] = [];
  while (made.length < count) made.push(make());
  return made;
}
