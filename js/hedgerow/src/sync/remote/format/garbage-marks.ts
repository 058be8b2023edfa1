/**
 * The messages of a remote's collectors to each other. A mark lists objects that no head names any more. The record,
 * which is kept like the head of a branch, lists the marks.
 */

import { hex } from '../../../base/hex.js';
import type { Scope } from './cipher-suite.js';
import type { Folder } from './content-names.js';
import { FieldWriter, HASH_BYTES, unwritable } from './field-codec.js';
import {
  MAX_MARK_BYTES,
  MAX_MARK_NAMES,
  MAX_MARKS,
  MAX_UNSIGNED_HEAD_BYTES,
} from './format-limits.js';
import { unwrapObject, wrapObject } from './single-part-object.js';

/** A mark as the record names it. It is an object under `d/`. */
export interface MarkRecord {
  readonly nameBytes: Uint8Array;
  /** Bytes of the object. */
  readonly length: number;
  /**
   * The time since when no head names its objects, by the clock of the remote, in seconds since 1970: the record that
   * named it first was written then. Undefined in that record itself.
   */
  readonly stamp: number | undefined;
}

/** The record of the collection of a remote. */
export interface MarkRecords {
  /** When the last finished collection began, by the clock of the remote, in seconds since 1970; 0 for never. */
  readonly collected: number;
  /** The oldest first. */
  readonly marks: readonly MarkRecord[];
}

/** Makes the bytes of a record; `nonceBytes` are 16 random bytes, new for each try. Throws `invalid-argument`. */
export async function encodeRecord(
  { collected, marks }: MarkRecords,
  nonceBytes: Uint8Array,
  scope: Scope,
): Promise<Uint8Array> {
  const writer = new FieldWriter('record');
  if (marks.length > MAX_MARKS) throw unwritable('record', `${marks.length} marks`);
  writer.u64(collected);
  writer.u16(marks.length);
  for (const { nameBytes, length, stamp } of marks) {
    writer.hash(nameBytes);
    writer.u32(length);
    writer.u64(stamp ?? 0);
  }
  return wrapObject('record', nonceBytes, writer.toBytes(), MAX_UNSIGNED_HEAD_BYTES, scope);
}

/** Reads a record. Throws `remote/data`, `newer-version/format` or `wrong-key`. */
export async function decodeRecord(
  bytes: Uint8Array,
  scope: Scope,
): Promise<MarkRecords & { readonly nonceBytes: Uint8Array }> {
  const { saltBytes: nonceBytes, reader } = await unwrapObject(
    'record',
    bytes,
    MAX_UNSIGNED_HEAD_BYTES,
    scope,
  );
  const collected = reader.u64();
  const { at } = reader;
  const count = reader.u16();
  reader.check(count <= MAX_MARKS, `${count} marks`, at);
  const marks = Array.from({ length: count }, (): MarkRecord => {
    const nameBytes = reader.name();
    const lengthAt = reader.at;
    const length = reader.u32();
    reader.check(length >= 1 && length <= MAX_MARK_BYTES, `${length} bytes`, lengthAt);
    const stamp = reader.u64();
    return { nameBytes, length, stamp: stamp === 0 ? undefined : stamp };
  });
  reader.end();
  return { nonceBytes, collected, marks };
}

/** The names that a mark lists, by their folders; ascending. */
export type MarkNames = Readonly<Record<Folder, readonly Uint8Array[]>>;

function isAfter(before: Uint8Array | undefined, nameBytes: Uint8Array): boolean {
  return before === undefined || hex(before) < hex(nameBytes);
}

/** Makes the object of a mark; `saltBytes` are 16 random bytes. Throws `invalid-argument`. */
export async function encodeMark(
  names: MarkNames,
  saltBytes: Uint8Array,
  scope: Scope,
): Promise<Uint8Array> {
  const writer = new FieldWriter('mark');
  const count = names.p.length + names.d.length;
  if (count === 0 || count > MAX_MARK_NAMES) throw unwritable('mark', `${count} names`);
  for (const folder of [names.p, names.d]) {
    writer.u32(folder.length);
    for (const [nth, nameBytes] of folder.entries()) {
      if (!isAfter(folder[nth - 1], nameBytes)) throw unwritable('mark', 'names do not ascend');
      writer.hash(nameBytes);
    }
  }
  return wrapObject('mark', saltBytes, writer.toBytes(), MAX_MARK_BYTES, scope);
}

/** Reads a mark. Throws `remote/data`, `newer-version/format` or `wrong-key`. */
export async function decodeMark(bytes: Uint8Array, scope: Scope): Promise<MarkNames> {
  const { reader } = await unwrapObject('mark', bytes, MAX_MARK_BYTES, scope);
  const read = (): Uint8Array[] => {
    const { at } = reader;
    const count = reader.u32();
    reader.check(count * HASH_BYTES <= reader.left, `${count} names`, at);
    let before: Uint8Array | undefined;
    return Array.from({ length: count }, () => {
      const nameAt = reader.at;
      const nameBytes = reader.name();
      reader.check(isAfter(before, nameBytes), 'names do not ascend', nameAt);
      before = nameBytes;
      return nameBytes;
    });
  };
  const names = { p: read(), d: read() };
  const { at } = reader;
  reader.end();
  const count = names.p.length + names.d.length;
  reader.check(count > 0 && count <= MAX_MARK_NAMES, `${count} names`, at);
  return names;
}
