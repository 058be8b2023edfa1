/**
 * Measures how much of each segment is live: reached by the head or the fork of a branch. Walks all trees of rows and
 * indexes by the format alone, level by level, and reads each chunk once. `stats()` counts the bytes of one root in the
 * core; this module shows which segments have them.
 */

import type { Storage } from 'hedgerow';
import type { SegmentPart, SegmentStore } from 'hedgerow/kit';
import {
  BRANCH_REF,
  checkSignal,
  EMPTY_ROOT,
  FORK_REF,
  hex,
  REF,
  type Ref,
  readSegmentLength,
  Stream,
  TABLE_ENTRY_BYTES,
  TABLE_HEADER_BYTES,
  type TableRecord,
} from 'hedgerow/kit';
import {
  type Chunk,
  type ChunkReference,
  readTableEntries,
  storedChunkOf,
  type TableEntry,
} from './chunk-parser.js';
import { readOnly } from './read-only-storage.js';

/** One segment; bytes are as stored. */
export interface SegmentLive {
  readonly id: number;
  readonly bytes: number;
  readonly chunks: number;
  readonly liveBytes: number;
  readonly holds: string;
}

/** All segments of a store; bytes are as stored. */
export interface LivePart {
  readonly segments: readonly SegmentLive[];
  readonly bytes: number;
  readonly liveBytes: number;
  /** Chunks that a tree names and no segment has: `verify()` reports the keys that they cover. */
  readonly missing: number;
  /** Whether a sum tree is among the trees: it is not walked, and its bytes count as dead. */
  readonly hasSums: boolean;
}

/** Parts that are read at once. */
const AT_ONCE = 256;

/** Reads a chunk; a damaged one that cannot be read has no contents. */
function readable(stored: Uint8Array, place: ChunkLocation): Partial<Chunk> {
  try {
    return storedChunkOf(stored, place);
  } catch {
    return {};
  }
}

interface ChunkLocation extends SegmentPart, TableEntry {}

/** Finds the place of each chunk; of several copies, the first. */
function placesOf(tables: readonly TableRecord[]): Map<string, ChunkLocation> {
  const places = new Map<string, ChunkLocation>();
  for (const { id, tableBytes } of tables) {
    for (const entry of readTableEntries(tableBytes)) {
      if (!places.has(entry.hash)) places.set(entry.hash, { id, ...entry });
    }
  }
  return places;
}

const namesCommit = ({ name }: Ref) =>
  name === REF || name.startsWith(BRANCH_REF) || name.startsWith(FORK_REF);

function holdsOf(streams: number): string {
  const names = [
    streams & Stream.leaves && 'rows',
    streams & Stream.inner && 'inner nodes',
    streams & Stream.values && 'large values',
  ];
  return names.filter(Boolean).join(', ');
}

/** A walk that marks reached chunks, and reads only the ones that may name others. */
class Walk {
  readonly live = new Map<number, number>();
  missing = 0;
  hasSums = false;
  readonly #places: Map<string, ChunkLocation>;
  readonly #seen = new Set<string>();
  readonly #segments: SegmentStore;

  constructor(segments: SegmentStore, places: Map<string, ChunkLocation>) {
    this.#segments = segments;
    this.#places = places;
  }

  /** Marks chunks; returns the places of the ones to read. */
  #mark(wanted: readonly ChunkReference[]): ChunkLocation[] {
    const toRead: ChunkLocation[] = [];
    for (const { hash, isPiece } of wanted) {
      if (this.#seen.has(hash)) continue;
      this.#seen.add(hash);
      const place = this.#places.get(hash);
      if (place === undefined) {
        this.missing++;
        continue;
      }
      this.live.set(place.id, (this.live.get(place.id) ?? 0) + place.to - place.from);
      if (!isPiece) toRead.push(place);
    }
    return toRead;
  }

  async run(
    roots: readonly string[],
    signal: AbortSignal | undefined,
    onProgress: (chunks: number) => void,
  ): Promise<void> {
    let waiting = this.#mark(roots.map((hash) => ({ hash, isPiece: false })));
    while (waiting.length > 0) {
      checkSignal(signal);
      const now = waiting.splice(0, AT_ONCE);
      const chunks = await this.#segments.read(now);
      const next = now.flatMap((place, nth) => {
        const stored = chunks[nth];
        const { kind, names = [] } = stored === undefined ? {} : readable(stored, place);
        this.hasSums ||= kind === 'sum';
        return names;
      });
      waiting = [...this.#mark(next), ...waiting];
      onProgress(this.#seen.size);
    }
  }
}

/**
 * Measures how much of each segment is live. Reads all live nodes of a store; `onProgress` gets the number of chunks
 * found.
 */
export async function livePartOf(
  name: string,
  storage: Storage,
  {
    signal,
    onProgress = () => {},
  }: { signal?: AbortSignal | undefined; onProgress?: (chunks: number) => void } = {},
): Promise<LivePart> {
  const segments = await readOnly(storage).open(name);
  try {
    const { tables, refs } = await segments.load();
    const walk = new Walk(segments, placesOf(tables));
    const heads = refs.filter(namesCommit).map(({ commitBytes }) => hex(commitBytes));
    const roots = heads.filter((root) => root !== EMPTY_ROOT);
    await walk.run(roots, signal, onProgress);
    const all = tables.map(({ id, tableBytes }): SegmentLive => {
      const chunks = Math.floor((tableBytes.length - TABLE_HEADER_BYTES) / TABLE_ENTRY_BYTES);
      const bytes = chunks < 1 ? 0 : readSegmentLength(tableBytes);
      return {
        id,
        bytes,
        chunks,
        liveBytes: walk.live.get(id) ?? 0,
        holds: holdsOf(tableBytes[5] ?? 0),
      };
    });
    const sum = (of: (one: SegmentLive) => number) =>
      all.reduce((total, one) => total + of(one), 0);
    return {
      segments: all,
      bytes: sum(({ bytes }) => bytes),
      liveBytes: sum(({ liveBytes }) => liveBytes),
      missing: walk.missing,
      hasSums: walk.hasSums,
    };
  } finally {
    await segments.close();
  }
}
