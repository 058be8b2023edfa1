/** The trees that a commit names: `crate/src/forest/commit.rs` reads them in the core. */
import * as ChunkSize from '../../base/abi/chunk-size.js';
import * as Field from '../../base/abi/field.js';
import { compareKeys } from '../../base/key.js';
import { MAX_KEY_BYTES, MAX_TREES } from '../../base/limits.js';
import { SEGMENT_BYTES } from '../../base/segment-table.js';
import { countUtf8, decodeText, readU16, readU64 } from './bytes-view.js';
import type { Tree } from './chunk-cache.js';
import { MalformedBytes } from './fault.js';

/** The tree of rows. */
export const ROW_TREE = 'r';
/** The first letter of the name of a complete index, of a partial one, and of a sum tree. */
export const INDEX = 'i';
export const PARTIAL_INDEX = 'j';
export const SUMS = 's';

/** Bytes of hash and sum of the root of a sum tree, which come before its definition. */
const SUM_ROOT_BYTES = 40;

const NO_BYTES = new Uint8Array();

/** A tree of a commit. */
export interface CommitTree extends Tree {
  /** Of a partial index: the key of the last row that it covers. Of a sum tree: its root, and its definition. */
  readonly reach: Uint8Array;
}

/** The tree without entries. */
export const EMPTY_TREE: CommitTree = { root: new Uint8Array(32), count: 0, reach: NO_BYTES };

/** Reads the trees of a commit by their names. Throws `MalformedBytes`. */
export function readCommit(bytes: Uint8Array): Map<string, CommitTree> {
  const { length } = bytes;
  const short = (at: number, need: number) => new MalformedBytes(Field.length, at, need, length);
  let at: number = ChunkSize.headerBytes;
  /** Takes the next bytes. */
  const take = (count: number, from = at): Uint8Array => {
    if (from + count > length) throw short(at, from + count);
    at = from + count;
    return bytes.subarray(from, at);
  };
  const text = (part: Uint8Array, offset: number): string => {
    const valid = countUtf8(part, 0, part.length);
    if (valid < part.length)
      throw new MalformedBytes(Field.keyText, offset + valid, part.length, valid);
    return decodeText(part);
  };
  const count = readU16(take(2), 0);
  if (count === 0 || count > MAX_TREES) throw new MalformedBytes(Field.count, 2, MAX_TREES, count);
  if (length > SEGMENT_BYTES) throw new MalformedBytes(Field.length, 0, SEGMENT_BYTES, length);
  const trees = new Map<string, CommitTree>();
  let [last, hasBound] = ['', false];
  for (let tree = 0; tree < count; tree++) {
    const start = at;
    const [nameLength = 0] = take(1);
    if (at + nameLength + 40 > length) throw short(start, at + nameLength + 40);
    const name = text(take(nameLength), start + 1);
    if (tree > 0 && compareKeys(last, name) >= 0)
      throw new MalformedBytes(Field.keyOrder, start + 1, 0, nameLength);
    last = name;
    const countAt = at;
    const entries = readU64(take(8), 0);
    const root = take(32);
    const isSum = name.startsWith(SUMS);
    const isPartial = name.startsWith(PARTIAL_INDEX);
    let reach: Uint8Array = NO_BYTES;
    if (isSum || isPartial) {
      const lengthAt = at;
      const reachLength = readU16(take(2), 0);
      if (reachLength > MAX_KEY_BYTES)
        throw new MalformedBytes(Field.keyLength, lengthAt, MAX_KEY_BYTES, reachLength);
      const reachAt = at;
      reach = take(reachLength);
      if (isSum && reachLength < SUM_ROOT_BYTES) throw short(reachAt, at);
      text(reach.subarray(isSum ? SUM_ROOT_BYTES : 0), reachAt);
    }
    const isBound = isPartial || name.startsWith(INDEX) || (isSum && reach.length > SUM_ROOT_BYTES);
    hasBound ||= isBound;
    const isEmpty = entries === 0;
    if ((isEmpty && !isBound) || entries > 2 ** 48 || isEmpty !== root.every((byte) => byte === 0))
      throw new MalformedBytes(Field.entryCount, countAt, 0, entries);
    trees.set(name, { root, count: entries, reach });
  }
  if (at !== length) throw short(at, at);
  if (hasBound && !trees.get(ROW_TREE)?.count)
    throw new MalformedBytes(Field.count, ChunkSize.headerBytes, 0, count);
  return trees;
}
