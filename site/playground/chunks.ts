/**
 * Reads chunks as `docs/format.md` draws them, to be drawn: which chunks one names, and how much is in it. Nothing is
 * verified here, the store does that.
 */

/** What a chunk is to a drawing. */
export interface Chunk {
  readonly kind: 'leaf' | 'node' | 'commit' | 'other';
  readonly bytes: number;
  /** 0 for a leaf. */
  readonly level: number;
  /** Rows of a leaf, children of a node. */
  readonly entries: number;
  /** The last key of a leaf or a node, if it can be read as text. */
  readonly lastKey: string;
  /** Hashes of the chunks that it names, in hexadecimal; of a commit the roots of `trees`. */
  readonly names: readonly string[];
  readonly trees: readonly NamedTree[];
}

/** A tree as a commit names it. */
export interface NamedTree {
  /** `r` for the rows; indexes, trees that are being built and sum trees begin with `i`, `j` and `s`. */
  readonly name: string;
  readonly count: number;
  readonly root: string;
}

const HASH_BYTES = 32;
const LEAF = 0;
const MAX_LEVEL = 40;
const COMMIT = 0xc0;
const PIECE_LIST = 0xe1;
const KEY_BITS = 0x3fff;
const IS_FAR = 0x8000;
const NO_ROOT = '0'.repeat(2 * HASH_BYTES);

const text = new TextDecoder();

export function hex(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += byte.toString(16).padStart(2, '0');
  return digits;
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

const hashAt = (chunk: Uint8Array, at: number) => hex(chunk.subarray(at, at + HASH_BYTES));

function leafOf(chunk: Uint8Array): Chunk {
  const view = viewOf(chunk);
  const entries = view.getUint16(2, true);
  const records = 4 + 2 * entries;
  const names: string[] = [];
  let [from, lastKey] = [records, ''];
  for (let nth = 0; nth < entries; nth++) {
    const end = records + view.getUint16(4 + 2 * nth, true);
    const head = view.getUint16(from, true);
    const keyEnd = from + 2 + (head & KEY_BITS);
    if (head & IS_FAR) names.push(hashAt(chunk, keyEnd + 4));
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
  const names = Array.from({ length: entries }, (_, nth) =>
    hashAt(chunk, hashes + HASH_BYTES * nth),
  );
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
    // How far an index has come that is being built, or what a sum tree needs besides.
    if (/^[js]/.test(name)) at += 2 + view.getUint16(at, true);
  }
  const names = trees.map(({ root }) => root).filter((root) => root !== NO_ROOT);
  const entries = trees.length;
  return { kind: 'commit', bytes: chunk.length, level: 0, entries, lastKey: '', names, trees };
}

function otherOf(chunk: Uint8Array): Chunk {
  const names: string[] = [];
  if (chunk[0] === PIECE_LIST) {
    for (let at = 2; at < chunk.length; at += HASH_BYTES) names.push(hashAt(chunk, at));
  }
  return {
    kind: 'other',
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

/** The chunks of a segment, by their hashes. */
export function* chunksOf(
  tableBytes: Uint8Array,
  segmentBytes: Uint8Array,
): Generator<readonly [hash: string, chunk: Chunk], void, void> {
  const view = viewOf(tableBytes);
  const count = view.getUint32(8, true);
  const ends = 12 + HASH_BYTES * count;
  let from = 0;
  for (let nth = 0; nth < count; nth++) {
    const end = view.getUint32(ends + 4 * nth, true);
    yield [hashAt(tableBytes, 12 + HASH_BYTES * nth), chunkOf(segmentBytes.subarray(from, end))];
    from = end;
  }
}
