/**
 * Reads chunks as `docs/format.md` draws them: the chunks that a chunk names, and its figures. The inspector and the
 * playground of the site use this module. The store verifies chunks; this module only throws for bytes that end too
 * early, and for a commit that does not end with its last tree.
 */

import { chunkFrom, EMPTY_ROOT, hex, TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES } from 'hedgerow/kit';

/** A chunk that another chunk names. */
export interface ChunkReference {
  /** In hexadecimal. */
  readonly hash: string;
  /** Whether it has bytes of a value: such a piece names no chunks. */
  readonly isPiece: boolean;
}

/** The contents of a chunk. */
export interface Chunk {
  readonly kind: 'leaf' | 'node' | 'commit' | 'sum' | 'other';
  /** The bytes of the chunk itself: it may take fewer in its segment. */
  readonly bytes: number;
  /** 0 for a leaf. */
  readonly level: number;
  /** Rows of a leaf, children of a node. */
  readonly entries: number;
  /** The last key of a leaf or a node, if it can be read as text. */
  readonly lastKey: string;
  /**
   * The chunks that it names; of a commit, the roots of its trees that are not empty. Chunks of sum trees list no
   * names.
   */
  readonly names: readonly ChunkReference[];
  readonly trees: readonly NamedTree[];
}

/** A tree as a commit names it. */
export interface NamedTree {
  /**
   * `r` for the rows; names of indexes, of trees that are being built, and of sum trees begin with `i`, `j` and `s`.
   */
  readonly name: string;
  readonly count: number;
  readonly root: string;
}

const HASH_BYTES = 32;
const LEAF = 0;
const MAX_LEVEL = 40;
const COMMIT = 0xc0;
const [FIRST_SUM, LAST_SUM] = [0xd0, 0xd1];
const PIECE_LIST = 0xe1;
const KEY_BITS = 0x3fff;
const IS_FAR = 0x8000;
/** Longer values are in several pieces, which a list names. */
const MAX_PIECE_BYTES = 65_536;

const text = new TextDecoder();

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

const hashAt = (chunk: Uint8Array, at: number) => hex(chunk.subarray(at, at + HASH_BYTES));

function leafOf(chunk: Uint8Array): Chunk {
  const view = viewOf(chunk);
  const entries = view.getUint16(2, true);
  const records = 4 + 2 * entries;
  const names: ChunkReference[] = [];
  let [from, lastKey] = [records, ''];
  for (let nth = 0; nth < entries; nth++) {
    const end = records + view.getUint16(4 + 2 * nth, true);
    const head = view.getUint16(from, true);
    const keyEnd = from + 2 + (head & KEY_BITS);
    if (head & IS_FAR) {
      const isPiece = view.getUint32(keyEnd, true) <= MAX_PIECE_BYTES;
      names.push({ hash: hashAt(chunk, keyEnd + 4), isPiece });
    }
    if (nth === entries - 1) lastKey = text.decode(chunk.subarray(from + 2, keyEnd));
    from = end;
  }
  return { kind: 'leaf', bytes: chunk.length, level: 0, entries, lastKey, names, trees: [] };
}

function nodeOf(chunk: Uint8Array): Chunk {
  const view = viewOf(chunk);
  const entries = view.getUint16(2, true);
  const hashes = 4 + 10 * entries;
  const keys = hashes + HASH_BYTES * entries;
  const names = Array.from({ length: entries }, (_, nth) => ({
    hash: hashAt(chunk, hashes + HASH_BYTES * nth),
    isPiece: false,
  }));
  const start = entries > 1 ? view.getUint16(4 + 2 * (entries - 2), true) : 0;
  const lastKey = text.decode(chunk.subarray(keys + start));
  const level = chunk[0] ?? 0;
  return { kind: 'node', bytes: chunk.length, level, entries, lastKey, names, trees: [] };
}

function commitOf(chunk: Uint8Array): Chunk {
  const view = viewOf(chunk);
  const trees: NamedTree[] = [];
  let at = 4;
  for (let left = view.getUint16(2, true); left > 0; left--) {
    const end = at + 1 + (chunk[at] ?? 0);
    const name = text.decode(chunk.subarray(at + 1, end));
    trees.push({
      name,
      count: Number(view.getBigUint64(end, true)),
      root: hashAt(chunk, end + 8),
    });
    at = end + 8 + HASH_BYTES;
    // The progress of an index that is being built, or further data of a sum tree.
    if (/^[js]/.test(name)) at += 2 + view.getUint16(at, true);
  }
  if (at !== chunk.length) throw new RangeError('a commit ends with its last tree');
  const names = trees
    .filter(({ root }) => root !== EMPTY_ROOT)
    .map(({ root }) => ({ hash: root, isPiece: false }));
  const entries = trees.length;
  return { kind: 'commit', bytes: chunk.length, level: 0, entries, lastKey: '', names, trees };
}

function otherOf(chunk: Uint8Array): Chunk {
  const [first = 0] = chunk;
  const names: ChunkReference[] = [];
  if (first === PIECE_LIST) {
    for (let at = 2; at < chunk.length; at += HASH_BYTES) {
      names.push({ hash: hashAt(chunk, at), isPiece: true });
    }
  }
  return {
    kind: first >= FIRST_SUM && first <= LAST_SUM ? 'sum' : 'other',
    bytes: chunk.length,
    level: 0,
    entries: names.length,
    lastKey: '',
    names,
    trees: [],
  };
}

export function chunkOf(bytes: Uint8Array): Chunk {
  const kind = bytes[0] ?? COMMIT;
  if (kind === LEAF) return leafOf(bytes);
  if (kind <= MAX_LEVEL) return nodeOf(bytes);
  return kind === COMMIT ? commitOf(bytes) : otherOf(bytes);
}

/** The place of a chunk in its segment. */
export interface TableEntry {
  readonly hash: string;
  readonly from: number;
  readonly to: number;
  /** Bytes of the chunk itself. If it takes fewer in the segment, it is packed there. */
  readonly length: number;
}

/** Reads the chunks of a segment from its table. */
export function* readTableEntries(tableBytes: Uint8Array): Generator<TableEntry, void, void> {
  const view = viewOf(tableBytes);
  const count = Math.floor((tableBytes.length - TABLE_HEADER_BYTES) / TABLE_ENTRY_BYTES);
  const ends = TABLE_HEADER_BYTES + HASH_BYTES * count;
  const lengths = ends + 4 * count;
  let from = 0;
  for (let nth = 0; nth < count; nth++) {
    const to = view.getUint32(ends + 4 * nth, true);
    const length = view.getUint32(lengths + 4 * nth, true);
    yield { hash: hashAt(tableBytes, TABLE_HEADER_BYTES + HASH_BYTES * nth), from, to, length };
    from = to;
  }
}

/** Reads the contents of a chunk from its bytes in the segment. */
export function storedChunkOf(stored: Uint8Array, { length }: Pick<TableEntry, 'length'>): Chunk {
  const bytes = chunkFrom(stored, length);
  if (bytes === undefined) throw new RangeError('the packed form of a chunk is damaged');
  return chunkOf(bytes);
}
