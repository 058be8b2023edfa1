/**
 * How much of each segment is live: reached by a branch, or by where a branch began. Walks all trees of rows and indexes
 * by the format alone, level by level, and reads nothing twice. `stats()` counts the bytes of one root in the core; this
 * tells in which segments they are.
 */

import { hex } from '../../base/hex.js';
import { Stream, TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES } from '../../base/segment-table.js';
import { checkSignal } from '../../base/signal.js';
import { BRANCH_REF, FORK_REF, REF } from '../../history/inventory.js';
import type {
  Ref,
  SegmentPart,
  SegmentStore,
  Storage,
  TableRecord,
} from '../../storage/segment-store.js';
import { readOnly } from './read-only.js';

/** One segment. */
export interface SegmentLive {
  readonly id: number;
  readonly bytes: number;
  readonly chunks: number;
  readonly liveBytes: number;
  readonly holds: string;
}

/** All segments of a store. */
export interface LivePart {
  readonly segments: readonly SegmentLive[];
  readonly bytes: number;
  readonly liveBytes: number;
  /** Chunks that a tree names and no segment has: `verify()` tells what they cover. */
  readonly missing: number;
  /** A sum tree is among the trees: it is not walked, and its bytes count as dead. */
  readonly hasSums: boolean;
}

const HASH = 32;
/** Parts that are read at once. */
const AT_ONCE = 256;
const FAR = 0x8000;
const KEY_LENGTH = 0x3fff;
const MAX_INLINE_PIECE = 65_536;
const [COMMIT, LIST, FIRST_SUM, LAST_SUM] = [0xc0, 0xe1, 0xd0, 0xd1];

const viewOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  new DataView(buffer, byteOffset, length);
const hashAt = (chunk: Uint8Array, at: number) => hex(chunk.subarray(at, at + HASH));

/** What a chunk leads to; a hash of zeros is an empty tree. */
interface Next {
  readonly hash: string;
  /** What a leaf names is a piece, which leads nowhere, unless it is a list. */
  readonly isPiece: boolean;
}

function nextOfCommit(chunk: Uint8Array): Next[] {
  const view = viewOf(chunk);
  const found: Next[] = [];
  let at = 4;
  for (let left = view.getUint16(2, true); left > 0; left--) {
    const [length, kind] = [chunk[at] ?? 0, String.fromCharCode(chunk[at + 1] ?? 0)];
    at += 1 + length + 8;
    found.push({ hash: hashAt(chunk, at), isPiece: false });
    at += HASH;
    if (kind === 'j' || kind === 's') at += 2 + view.getUint16(at, true);
  }
  return found;
}

function nextOfLeaf(chunk: Uint8Array): Next[] {
  const view = viewOf(chunk);
  const count = view.getUint16(2, true);
  const first = 4 + 2 * count;
  const found: Next[] = [];
  for (let nth = 0; nth < count; nth++) {
    const at = first + (nth === 0 ? 0 : view.getUint16(4 + 2 * (nth - 1), true));
    const head = view.getUint16(at, true);
    if ((head & FAR) === 0) continue;
    const far = at + 2 + (head & KEY_LENGTH);
    const isPiece = view.getUint32(far, true) <= MAX_INLINE_PIECE;
    found.push({ hash: hashAt(chunk, far + 4), isPiece });
  }
  return found;
}

function nextOfNode(chunk: Uint8Array): Next[] {
  const count = viewOf(chunk).getUint16(2, true);
  return Array.from({ length: count }, (_, nth) => ({
    hash: hashAt(chunk, 4 + 10 * count + HASH * nth),
    isPiece: false,
  }));
}

/** What a chunk leads to, by its form; a damaged one may say anything: then what it says is missing. */
function nextOf(chunk: Uint8Array): Next[] {
  const [kind = 0] = chunk;
  try {
    if (kind === COMMIT) return nextOfCommit(chunk);
    if (kind === 0) return nextOfLeaf(chunk);
    if (kind === LIST) {
      const count = (chunk.length - 2) / HASH;
      return Array.from({ length: count }, (_, nth) => ({
        hash: hashAt(chunk, 2 + HASH * nth),
        isPiece: true,
      }));
    }
    return kind <= 40 ? nextOfNode(chunk) : [];
  } catch {
    return [];
  }
}

interface Place extends SegmentPart {
  readonly hash: string;
}

/** Where each chunk is; of several copies the first. */
function placesOf(tables: readonly TableRecord[]): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const { id, tableBytes } of tables) {
    const view = viewOf(tableBytes);
    const count = Math.floor((tableBytes.length - TABLE_HEADER_BYTES) / TABLE_ENTRY_BYTES);
    let from = 0;
    for (let nth = 0; nth < count; nth++) {
      const hash = hashAt(tableBytes, TABLE_HEADER_BYTES + HASH * nth);
      const to = view.getUint32(TABLE_HEADER_BYTES + HASH * count + 4 * nth, true);
      if (!places.has(hash)) places.set(hash, { id, from, to, hash });
      from = to;
    }
  }
  return places;
}

const namesCommit = ({ name }: Ref) =>
  name === REF || name.startsWith(BRANCH_REF) || name.startsWith(FORK_REF);
const isEmpty = (hash: string) => /^0+$/.test(hash);

function holdsOf(streams: number): string {
  const names = [
    streams & Stream.leaves && 'rows',
    streams & Stream.inner && 'inner nodes',
    streams & Stream.values && 'large values',
  ];
  return names.filter(Boolean).join(', ');
}

/** Marks what is reached, and reads only what leads on. */
class Walk {
  readonly live = new Map<number, number>();
  missing = 0;
  hasSums = false;
  readonly #places: Map<string, Place>;
  readonly #seen = new Set<string>();
  readonly #segments: SegmentStore;

  constructor(segments: SegmentStore, places: Map<string, Place>) {
    this.#segments = segments;
    this.#places = places;
  }

  /** Marks chunks; returns the places of those that must be read. */
  #mark(wanted: readonly Next[]): Place[] {
    const toRead: Place[] = [];
    for (const { hash, isPiece } of wanted) {
      if (this.#seen.has(hash) || isEmpty(hash)) continue;
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
      const next = chunks.flatMap((chunk) => {
        const kind = chunk?.[0] ?? 0;
        this.hasSums ||= kind >= FIRST_SUM && kind <= LAST_SUM;
        return chunk === undefined ? [] : nextOf(chunk);
      });
      waiting = [...this.#mark(next), ...waiting];
      onProgress(this.#seen.size);
    }
  }
}

/** How much of each segment is live. Reads all live nodes of a store; `onProgress` is told how many chunks were found. */
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
    const roots = refs.filter(namesCommit).map(({ commitBytes }) => hex(commitBytes));
    await walk.run(roots, signal, onProgress);
    const all = tables.map(({ id, tableBytes }): SegmentLive => {
      const view = viewOf(tableBytes);
      const chunks = Math.floor((tableBytes.length - TABLE_HEADER_BYTES) / TABLE_ENTRY_BYTES);
      const bytes = chunks < 1 ? 0 : view.getUint32(tableBytes.length - 4, true);
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
