/**
 * Reads the table of a segment that names chunks at a remote, and the nodes that describe these: see `docs/format.md`.
 */

import { sameBytes } from '../../base/bytes.js';
import { hex } from '../../base/hex.js';
import { chunkCounts, chunkEnd, chunkLength } from '../../base/read-segment-table.js';
import { TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES } from '../../base/segment-table.js';
import { chunkFrom } from '../../base/unpack-chunk.js';
import type { NodeAt } from '../../core/calls/lazy-clone-calls.js';
import type { HashFunction } from '../remote/format/content-names.js';

const HASH_BYTES = 32;

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Returns whether a table names chunks at the remote. A damaged table does not. */
export function hasRemote(tableBytes: Uint8Array): boolean {
  if (tableBytes.length <= TABLE_HEADER_BYTES) return false;
  const { here, all } = chunkCounts(tableBytes);
  return here < all && tableBytes.length === TABLE_HEADER_BYTES + TABLE_ENTRY_BYTES * all;
}

/** Returns the hash of a chunk of a table. */
function hashOf(tableBytes: Uint8Array, index: number): Uint8Array {
  const at = TABLE_HEADER_BYTES + HASH_BYTES * index;
  return tableBytes.subarray(at, at + HASH_BYTES);
}

/** Returns the hash of the chunk that begins at `from`; `undefined` if no chunk does. */
export function hashAt(tableBytes: Uint8Array, from: number): Uint8Array | undefined {
  const { all } = chunkCounts(tableBytes);
  let [low, high] = [0, all];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunkEnd(tableBytes, all, middle - 1) < from) low = middle + 1;
    else high = middle;
  }
  return low < all && chunkEnd(tableBytes, all, low - 1) === from
    ? hashOf(tableBytes, low)
    : undefined;
}

/**
 * Yields the chunks that a segment has, unpacked, by their hashes in hexadecimal, and these hashes. A chunk whose
 * packed form is damaged is empty.
 */
export function* chunksOf(
  tableBytes: Uint8Array,
  segmentBytes: Uint8Array,
): Generator<[string, Uint8Array, Uint8Array], void, void> {
  const { here, all } = chunkCounts(tableBytes);
  for (let at = 0; at < here; at++) {
    const [from, to] = [chunkEnd(tableBytes, all, at - 1), chunkEnd(tableBytes, all, at)];
    const [hashBytes, length] = [hashOf(tableBytes, at), chunkLength(tableBytes, all, at)];
    const chunk = chunkFrom(segmentBytes.subarray(from, to), length);
    yield [hex(hashBytes), chunk ?? new Uint8Array(), hashBytes];
  }
}

/** A node at the remote. */
export interface FarNode extends NodeAt {
  /** 0 for a leaf. */
  readonly level: number;
  /** The last key before it, if its parent has that key. */
  readonly after: Uint8Array | undefined;
}

/** The nodes at the remote that a segment names. */
export interface FarNodeIndex {
  /** The named nodes, by their hashes in hexadecimal, in the order of keys of each parent. */
  readonly nodes: Map<string, FarNode>;
  /** The hashes of these, and of the nodes below damaged ones. */
  readonly far: ReadonlySet<string>;
  /** The hashes of damaged nodes in it, by the same in hexadecimal: the nodes below them are unknown. */
  readonly damaged: Map<string, Uint8Array>;
}

/** Reads the index of a segment, and compares each node with its hash: storage may be damaged while memory is not. */
export function namedIn(
  tableBytes: Uint8Array,
  segmentBytes: Uint8Array,
  hash: HashFunction,
): FarNodeIndex {
  const { here, all } = chunkCounts(tableBytes);
  const far = new Set<string>();
  for (let at = here; at < all; at++) far.add(hex(hashOf(tableBytes, at)));
  const named: FarNodeIndex = { nodes: new Map(), far, damaged: new Map() };
  for (const [name, nodeBytes, hashBytes] of chunksOf(tableBytes, segmentBytes)) {
    if (sameBytes(hash(nodeBytes), hashBytes)) addChildren(named, nodeBytes);
    else named.damaged.set(name, hashBytes);
  }
  return named;
}

/** Adds the children of a sound internal node of the segment. */
export function addChildren({ nodes, far }: FarNodeIndex, nodeBytes: Uint8Array): void {
  for (const child of childrenOf(nodeBytes)) {
    const name = hex(child.hashBytes);
    if (far.has(name)) nodes.set(name, child);
  }
}

/** Returns the children that a sound internal node names. */
export function childrenOf(nodeBytes: Uint8Array): FarNode[] {
  const view = viewOf(nodeBytes);
  const count = view.getUint16(2, true);
  const [countsAt, hashesAt] = [4 + 2 * count, 4 + 10 * count];
  const keysAt = hashesAt + HASH_BYTES * count;
  const children: FarNode[] = [];
  let [keyEnd, rows, after]: [number, number, Uint8Array | undefined] = [0, 0, undefined];
  for (let at = 0; at < count; at++) {
    const total = Number(view.getBigUint64(countsAt + 8 * at, true));
    const end = view.getUint16(4 + 2 * at, true);
    const lastKey = nodeBytes.subarray(keysAt + keyEnd, keysAt + end);
    const hashBytes = nodeBytes.subarray(
      hashesAt + HASH_BYTES * at,
      hashesAt + HASH_BYTES * (at + 1),
    );
    children.push({ hashBytes, lastKey, count: total - rows, level: view.getUint8(0) - 1, after });
    [keyEnd, rows, after] = [end, total, lastKey];
  }
  return children;
}
