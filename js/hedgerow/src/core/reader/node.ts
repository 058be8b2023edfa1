/**
 * Nodes of trees: the check of their bytes, and the members of them. `docs/format.md` draws both kinds;
 * `crate/trees/src/node/` reads them in the core.
 */
import * as ChunkSize from '../../base/abi/chunk-size.js';
import * as Field from '../../base/abi/field.js';
import { MAX_KEY_BYTES, MAX_VALUE_BYTES } from '../../base/limits.js';
import { compareByteRange, countUtf8, readU16, readU32, readU64 } from './bytes-view.js';
import { MalformedBytes } from './fault.js';

const HEADER = ChunkSize.nodeHeaderBytes;
const CHILD = ChunkSize.childBytes;
const HASH = ChunkSize.hashBytes;
/** The bits of a record's head with the length of its key; the two above them are the tag of its value. */
const KEY_LENGTH = 0x3fff;
const TAG_SHIFT = 14;
/** Bits of a tag. */
export const BYTES = 1;
export const OUT_OF_LINE = 2;

/** The bytes of a checked node. */
export type Node = Uint8Array;

/** Returns the level of a node; 0 for a leaf. */
export function levelOf(node: Node): number {
  return node[0] as number;
}

/** Returns the number of entries of a leaf, or of children of an internal node. */
export function lengthOf(node: Node): number {
  return readU16(node, 2);
}

/** Returns where the records of a leaf begin, or the keys of an internal node. */
function bodyStart(node: Node): number {
  return HEADER + (levelOf(node) === 0 ? 2 : CHILD) * lengthOf(node);
}

/** Returns where the record or the key at `index` begins. */
function memberStart(node: Node, index: number): number {
  return bodyStart(node) + (index === 0 ? 0 : readU16(node, HEADER + 2 * (index - 1)));
}

function keyStart(node: Node, index: number): number {
  return memberStart(node, index) + (levelOf(node) === 0 ? 2 : 0);
}

function keyEnd(node: Node, index: number): number {
  if (levelOf(node) > 0) return memberStart(node, index + 1);
  const start = memberStart(node, index);
  return start + 2 + (readU16(node, start) & KEY_LENGTH);
}

/** Returns the key of an entry, or the last key of a child. */
export function memberKey(node: Node, index: number): Uint8Array {
  return node.subarray(keyStart(node, index), keyEnd(node, index));
}

/** Compares the key at `index` with another. */
export function compareKeyAt(node: Node, index: number, key: Uint8Array): number {
  return compareByteRange(node, keyStart(node, index), keyEnd(node, index), key);
}

/** Returns the tag of the value of an entry of a leaf. */
export function tagAt(leaf: Node, index: number): number {
  return readU16(leaf, memberStart(leaf, index)) >> TAG_SHIFT;
}

/** Returns the value of an entry of a leaf, or the reference to it. */
export function entryValue(leaf: Node, index: number): Uint8Array {
  return leaf.subarray(keyEnd(leaf, index), memberStart(leaf, index + 1));
}

/** Returns the hash of a child of an internal node. */
export function childHash(node: Node, index: number): Uint8Array {
  const at = HEADER + 10 * lengthOf(node) + HASH * index;
  return node.subarray(at, at + HASH);
}

/** Returns the number of entries under the first `index` children of an internal node. */
export function countBefore(node: Node, index: number): number {
  return index === 0 ? 0 : readU64(node, HEADER + 2 * lengthOf(node) + 8 * (index - 1));
}

/** Returns the number of entries in the tree below a node. */
export function totalOf(node: Node): number {
  const length = lengthOf(node);
  return levelOf(node) === 0 ? length : countBefore(node, length);
}

/**
 * Returns the index of a key, searched from `from` on; if it is not there, the bits of the index where it would be,
 * inverted.
 */
export function search(node: Node, key: Uint8Array, from = 0): number {
  let low = from;
  let high = lengthOf(node);
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareKeyAt(node, middle, key);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return ~low;
}

/** Returns the index of the first key that is not below `key`; the number of keys if all are below it. */
export function route(node: Node, key: Uint8Array): number {
  const found = search(node, key);
  return found < 0 ? ~found : found;
}

/** Checks the value of an entry, or the reference to it, at `at`. */
function checkValue(tag: number, value: Uint8Array, at: number): void {
  const { length } = value;
  if ((tag & OUT_OF_LINE) === 0) {
    if (length > ChunkSize.maxInlineValueBytes)
      throw new MalformedBytes(Field.valueLength, at, ChunkSize.maxInlineValueBytes, length);
    return;
  }
  if (length !== ChunkSize.valueRefBytes)
    throw new MalformedBytes(Field.valueLength, at, ChunkSize.valueRefBytes, length);
  const valueLength = readU32(value, 0);
  if (valueLength <= ChunkSize.maxInlineValueBytes || valueLength > MAX_VALUE_BYTES)
    throw new MalformedBytes(Field.valueLength, at, MAX_VALUE_BYTES, valueLength);
}

/** Checks the bytes of a chunk that begins as a node. Throws `MalformedBytes` with the first fault. */
export function checkNode(node: Uint8Array): void {
  const isLeaf = levelOf(node) === 0;
  const { length } = node;
  const most = isLeaf ? ChunkSize.maxLeafBytes : ChunkSize.maxInnerBytes;
  if (length < HEADER || length > most) throw new MalformedBytes(Field.length, 0, most, length);
  const count = lengthOf(node);
  if (count === 0) throw new MalformedBytes(Field.count, 2, 1, 0);
  const start = bodyStart(node);
  // A leaf without records is refused at its first record.
  if (start > length) throw new MalformedBytes(Field.length, 2, start, length);
  let [end, total] = [0, 0];
  for (let index = 0; index < count; index++) {
    const table = HEADER + 2 * index;
    const next = readU16(node, table);
    const least = end + (isLeaf ? 2 : 0);
    if (next < least || start + next > length)
      throw new MalformedBytes(Field.offset, table, least, next);
    if (isLeaf) {
      const room = next - least;
      const keyLength = readU16(node, start + end) & KEY_LENGTH;
      if (keyLength > room) throw new MalformedBytes(Field.keyLength, start + end, room, keyLength);
    } else {
      const before = total;
      total = countBefore(node, index + 1);
      if (total <= before || total > 2 ** 48) {
        const at = HEADER + 2 * count + 8 * index;
        throw new MalformedBytes(Field.entryCount, at, before + 1, total);
      }
    }
    checkKeyAt(node, index, isLeaf ? start + end : table);
    if (isLeaf) checkValue(tagAt(node, index), entryValue(node, index), keyEnd(node, index));
    end = next;
  }
  if (start + end !== length)
    throw new MalformedBytes(Field.length, start + end, start + end, length);
}

/** Checks the key at `index`; the number of its length is at `lengthAt`. */
function checkKeyAt(node: Node, index: number, lengthAt: number): void {
  const [start, end] = [keyStart(node, index), keyEnd(node, index)];
  const length = end - start;
  if (length > MAX_KEY_BYTES)
    throw new MalformedBytes(Field.keyLength, lengthAt, MAX_KEY_BYTES, length);
  const valid = countUtf8(node, start, end);
  if (valid < length) throw new MalformedBytes(Field.keyText, start + valid, length, valid);
  if (index > 0 && compareKeyAt(node, index, memberKey(node, index - 1)) <= 0)
    throw new MalformedBytes(Field.keyOrder, start, 0, length);
}

/** Checks a node against the child at `index` as its parent describes it. Throws `MalformedBytes`. */
export function checkChild(node: Node, parent: Node, index: number): void {
  const [level, expectedLevel] = [levelOf(node), levelOf(parent) - 1];
  if (level !== expectedLevel) throw new MalformedBytes(Field.childLevel, 0, expectedLevel, level);
  const [total, expected] = [
    totalOf(node),
    countBefore(parent, index + 1) - countBefore(parent, index),
  ];
  if (total !== expected) throw new MalformedBytes(Field.childCount, 2, expected, total);
  const [last, lastKey] = [memberKey(node, lengthOf(node) - 1), memberKey(parent, index)];
  if (compareKeyAt(parent, index, last) !== 0)
    throw new MalformedBytes(Field.childKey, 0, lastKey.length, last.length);
  if (index > 0 && compareKeyAt(node, 0, memberKey(parent, index - 1)) <= 0)
    throw new MalformedBytes(Field.keyOrder, 0, 0, 0);
}
