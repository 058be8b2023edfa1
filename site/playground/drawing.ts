/** Draws a commit: its trees, level by level, the new parts of them, and the segments that hold it. */

import type { Chunk } from '../../js/inspector/src/model/chunk-parser.js';
import type { Book, Recorded } from './recorder.js';

/** One level of a tree; its nodes from left to right. */
export interface DrawnLevel {
  /** 0 for leaves. */
  readonly level: number;
  /** Bytes of the nodes themselves: stored ones may take less. */
  readonly bytes: readonly number[];
  readonly entries: readonly number[];
  readonly lastKeys: readonly string[];
  /** Whether the node is missing in the commit before. */
  readonly isNew: readonly boolean[];
}

export interface DrawnTree {
  /** The name of the tree in the commit. */
  readonly name: string;
  readonly count: number;
  /** From the top down; empty for sum trees, which have another form. */
  readonly levels: readonly DrawnLevel[];
}

export interface DrawnSegment {
  readonly id: number;
  readonly bytes: number;
  readonly chunks: number;
  /** Bytes of its chunks that this commit reaches. */
  readonly liveBytes: number;
  /** Written for this commit. */
  readonly isNew: boolean;
}

export interface Drawing {
  readonly store: string;
  readonly branch: string;
  readonly root: string;
  readonly trees: readonly DrawnTree[];
  readonly segments: readonly DrawnSegment[];
  /** Chunks of this commit that the one before did not have, and their stored bytes. */
  readonly newChunks: number;
  readonly newBytes: number;
  readonly chunks: number;
  readonly liveBytes: number;
  /** Whether the drawing is incomplete, since some chunks were not seen. */
  readonly isPartial: boolean;
}

/** Returns all chunks that a commit reaches. */
function reachable(chunks: ReadonlyMap<string, Chunk>, root: string | undefined): Set<string> {
  const reached = new Set<string>();
  const waiting = root === undefined ? [] : [root];
  for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
    const chunk = chunks.get(hash);
    if (chunk === undefined || reached.has(hash)) continue;
    reached.add(hash);
    waiting.push(...chunk.names.map(({ hash }) => hash));
  }
  return reached;
}

function levelOf(
  chunks: ReadonlyMap<string, Chunk>,
  hashes: readonly string[],
  before: ReadonlySet<string>,
): DrawnLevel {
  const nodes = hashes.map((hash) => chunks.get(hash) as Chunk);
  return {
    level: nodes[0]?.level ?? 0,
    bytes: nodes.map(({ bytes }) => bytes),
    entries: nodes.map(({ entries }) => entries),
    lastKeys: nodes.map(({ lastKey }) => lastKey),
    isNew: hashes.map((hash) => !before.has(hash)),
  };
}

function levelsOf(
  chunks: ReadonlyMap<string, Chunk>,
  root: string,
  before: ReadonlySet<string>,
): DrawnLevel[] {
  const levels: DrawnLevel[] = [];
  let hashes = [root];
  for (;;) {
    const known = hashes.filter((hash) => /^(leaf|node)$/.test(chunks.get(hash)?.kind ?? ''));
    if (known.length === 0) return levels;
    const level = levelOf(chunks, known, before);
    levels.push(level);
    if (level.level === 0) return levels;
    hashes = known.flatMap((hash) => chunks.get(hash)?.names.map((one) => one.hash) ?? []);
  }
}

/** Draws a commit, the `nth` recorded one. */
export function drawingOf(book: Book, { store, branch, root, before }: Recorded, nth: number) {
  const { chunks } = book;
  const reached = reachable(chunks, root);
  const known = reachable(chunks, before);
  const added = [...reached].filter((hash) => !known.has(hash));
  const bytesOf = (hashes: Iterable<string>) => {
    let bytes = 0;
    for (const hash of hashes) bytes += chunks.get(hash)?.storedBytes ?? 0;
    return bytes;
  };
  const trees = (chunks.get(root)?.trees ?? []).map((tree) => ({
    name: tree.name,
    count: tree.count,
    levels: tree.name.startsWith('s') ? [] : levelsOf(chunks, tree.root, known),
  }));
  // A chunk that was written twice is needed once.
  const left = new Set(reached);
  const segments = [...book.segments.values()]
    .filter(({ since, until }) => since <= nth && nth < until)
    .map(({ id, bytes, chunks: hashes, since }) => ({
      id,
      bytes,
      chunks: hashes.length,
      liveBytes: bytesOf(hashes.filter((hash) => left.delete(hash))),
      isNew: since === nth,
    }));
  const drawing: Drawing = {
    store,
    branch,
    root,
    trees,
    segments,
    newChunks: added.length,
    newBytes: bytesOf(added),
    chunks: reached.size,
    liveBytes: bytesOf(reached),
    isPartial: book.isPartial,
  };
  return drawing;
}
