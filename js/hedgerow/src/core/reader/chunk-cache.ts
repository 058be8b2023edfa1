/**
 * The chunks that a reader knows, and their bytes in memory. A chunk is checked against its hash, and by its kind,
 * when it is first read: `crate/trees/src/cache/reads.rs` does the same in the core.
 */
import * as ChunkKind from '../../base/abi/chunk-kind.js';
import * as ChunkSize from '../../base/abi/chunk-size.js';
import * as Field from '../../base/abi/field.js';
import { noSegment } from '../../base/abi/need.js';
import * as Size from '../../base/abi/size.js';
import * as Status from '../../base/abi/status.js';
import { FORMAT } from '../../base/limits.js';
import { SEGMENT_BYTES } from '../../base/segment-table.js';
import type { TableRecord } from '../../storage/segment-store.js';
import { hasHash } from './blake3.js';
import { readU32 } from './bytes-view.js';
import { Catalogue, type Copy } from './catalogue.js';
import { checkChunk, Fault, MalformedBytes, Need, type Want } from './fault.js';
import { checkChild, checkNode, childHash, type Node, totalOf } from './node.js';
import { Segment } from './segment.js';
import { ChunkTable } from './table.js';

/** A tree: the hash of its top node, and the number of its entries. */
export interface Tree {
  readonly root: Uint8Array;
  readonly count: number;
}

/** The search for a copy in memory ends after this many copies that are not in memory. */
const MOST_LOOKED_AT = 16;
/** The segments that stay in memory even if they exceed the budget. */
const LEAST_RESIDENT = 48;
/** The most parts and segments that are asked for at once, and their bytes. */
const MOST_WANTED = 64;
const MOST_WANTED_BYTES = 4 << 20;

/** Checks a chunk by its kind. Throws `MalformedBytes`. */
function checkForm(bytes: Uint8Array): void {
  const { length } = bytes;
  const [kind = 0, version] = bytes;
  if (version === undefined) throw new MalformedBytes(Field.length, 0, 2, length);
  if (version !== FORMAT) throw new MalformedBytes(Field.version, 1, FORMAT, version);
  const body = length - ChunkSize.headerBytes;
  if (kind <= ChunkSize.maxLevel) checkNode(bytes);
  else if (kind === ChunkKind.piece) {
    if (body === 0 || body > ChunkSize.pieceBytes)
      throw new MalformedBytes(Field.length, ChunkSize.headerBytes, ChunkSize.pieceBytes, body);
  } else if (kind === ChunkKind.pieceList) {
    const most = ChunkSize.hashBytes * ChunkSize.mostPieces;
    if (body % ChunkSize.hashBytes !== 0 || body < 2 * ChunkSize.hashBytes || body > most)
      throw new MalformedBytes(Field.length, ChunkSize.headerBytes, most, body);
  } else if (kind !== ChunkKind.commit && kind !== ChunkKind.sumPiece && kind !== ChunkKind.sumTop)
    throw new MalformedBytes(Field.kind, 0, ChunkSize.maxLevel, kind);
}

/** The chunks that a reader knows, and their bytes in memory. */
export class ChunkCache {
  readonly #catalogue = new Catalogue();
  /** The cost of a request to storage, in bytes that are read in the same time. */
  requestCost: number = Size.requestCost;
  /** Whether tables are still to come: a read of an unknown chunk then asks for its table. */
  awaitsTables = false;
  #budget = 0;
  /** Grows with each read. */
  #clock = 0;

  /** Adds a stored segment by its table. Ignores a known segment. Throws `MalformedBytes`. */
  addTable(id: number, tableBytes: Uint8Array): void {
    const table = new ChunkTable(tableBytes);
    if (!this.#catalogue.segments.has(id)) this.#catalogue.add(new Segment(id, table));
  }

  /** Removes a segment and its chunks. */
  remove(id: number): void {
    const segment = this.#catalogue.segments.get(id);
    if (segment !== undefined) this.#catalogue.remove(segment);
  }

  /** Takes the bytes of a want as they are stored. Each chunk is checked when it is read. */
  load(id: number, from: number, to: number, bytes: Uint8Array): void {
    const segment = this.#catalogue.segments.get(id);
    if (segment === undefined) return;
    segment.used = ++this.#clock;
    if (to === 0) segment.takeWhole(bytes);
    else segment.takePart(from, bytes);
    this.#evict();
  }

  /** Sets how many bytes of segments it keeps; returns the number of bytes in memory. */
  fit(budget: number): number {
    this.#budget = budget;
    return this.#evict();
  }

  /** Forgets the least recently used segments beyond the budget, and a sixteenth more; returns the bytes in memory. */
  #evict(): number {
    const resident = [...this.#catalogue.segments.values()].filter(({ size }) => size > 0);
    let held = resident.reduce((sum, { size }) => sum + size, 0);
    if (held <= this.#budget) return held;
    resident.sort((a, b) => a.used - b.used);
    for (const segment of resident.slice(0, -LEAST_RESIDENT)) {
      if (held <= this.#budget - this.#budget / 16) break;
      held -= segment.size;
      segment.forget();
    }
    return held;
  }

  /** Returns all segments, with their bytes if those are in memory as a whole. */
  records(): TableRecord[] {
    return [...this.#catalogue.segments.values()].map(({ id, table, whole }) => ({
      id,
      tableBytes: table.bytes,
      ...(whole && { segmentBytes: whole }),
    }));
  }

  /**
   * Returns a chunk of any kind, checked: a copy in memory that is not damaged. Throws `Need` for another copy, the last
   * one that was found damaged or is at a remote; or a `Fault`.
   */
  any(hash: Uint8Array): Uint8Array {
    let [isKnown, isDamaged, lookedAt] = [false, false, 0];
    let stored: Copy | undefined;
    let other: Copy | undefined;
    for (const copy of this.#catalogue.copies(hash)) {
      isKnown = true;
      const { segment, index } = copy;
      const wasDamaged = segment.damaged.has(index);
      const bytes = segment.chunk(index);
      if (bytes === undefined) {
        if (wasDamaged || segment.isRemote(index)) other ??= copy;
        else {
          stored ??= copy;
          lookedAt += 1;
          if (lookedAt === MOST_LOOKED_AT) break;
        }
      } else if (wasDamaged || !this.#isSound(copy, bytes, hash)) isDamaged = true;
      else {
        segment.used = ++this.#clock;
        return bytes;
      }
    }
    // A table that is still to come may have a sound copy.
    if (stored === undefined && this.awaitsTables)
      throw new Need([[noSegment, readU32(hash, 0), 1]]);
    if (isDamaged && other !== undefined && !other.segment.isRemote(other.index)) other = undefined;
    const found = stored ?? other;
    if (found === undefined) {
      throw new Fault(isKnown ? Status.corruptChunk : Status.missingChunk, hash);
    }
    throw new Need([found.segment.wantOf(found.index, this.#isRun(found.segment))]);
  }

  /** Checks a copy at its first use; returns whether it has its hash. Throws a `Fault` if its form is wrong. */
  #isSound({ segment, index }: Copy, bytes: Uint8Array, hash: Uint8Array): boolean {
    if (segment.checked.has(index)) return true;
    if (!hasHash(bytes, hash)) {
      segment.damaged.add(index);
      return false;
    }
    const [, version = 0] = bytes;
    if (version > FORMAT) {
      throw new Fault(Status.unsupportedFormat, hash, {
        field: version,
        offset: 0,
        expected: 0,
        got: 0,
      });
    }
    checkChunk(hash, () => checkForm(bytes));
    segment.checked.add(index);
    return true;
  }

  /** Returns whether all of a segment is read for a chunk of it. */
  #isRun(segment: Segment): boolean {
    const { segmentLength } = segment.table;
    return (
      segmentLength < Size.leastBytesForParts ||
      // A reader of one internal node soon reads others.
      (segment.table.hasOnlyInner && this.#budget >= 32 * SEGMENT_BYTES) ||
      segment.parts * this.requestCost >= segmentLength
    );
  }

  /** Returns a chunk of this kind, checked. Throws `Need`, or a `Fault`. */
  chunk(hash: Uint8Array, kind: number): Uint8Array {
    const bytes = this.any(hash);
    if (bytes[0] !== kind) throw wrongKind(hash, kind, bytes);
    return bytes;
  }

  /** Returns a node, checked. Throws `Need`, or a `Fault`. */
  node(hash: Uint8Array): Node {
    const bytes = this.any(hash);
    if ((bytes[0] as number) > ChunkSize.maxLevel) throw wrongKind(hash, 0, bytes);
    return bytes;
  }

  /** Returns the top node of a tree, which must not be empty, checked against its count. */
  top({ root, count }: Tree): Node {
    const node = this.node(root);
    const total = totalOf(node);
    if (total === count) return node;
    const malformed = { field: Field.childCount, offset: 2, expected: count, got: total };
    throw new Fault(Status.corruptChunk, root, malformed);
  }

  /** Returns the child at `index` of an internal node, checked against the node. */
  child(parent: Node, index: number): Node {
    const hash = childHash(parent, index);
    const node = this.node(hash);
    checkChunk(hash, () => checkChild(node, parent, index));
    return node;
  }

  /** Adds what is needed next to a need, as far as it fits. */
  needAlso({ wants }: Need, others: Iterable<Want>): Need {
    const all = new Map(wants.map((want) => [String(want), want]));
    let bytes = 0;
    for (const want of others) {
      const [id, from, to] = want;
      const length = this.#catalogue.segments.get(id)?.table.segmentLength ?? 0;
      bytes += to === 0 ? length : Math.abs(to) - from;
      if (bytes > MOST_WANTED_BYTES || all.size === MOST_WANTED) break;
      all.set(String(want), want);
    }
    return new Need(this.#joined([...all.values()]));
  }

  /** Yields what reads of chunks will need. The reads will report faults. */
  *wantsOf(hashes: Iterable<Uint8Array>): Generator<Want, void, void> {
    for (const hash of hashes) yield* wantsOf(() => this.any(hash));
  }

  /** Replaces parts by their segment where that costs less. */
  #joined(wants: readonly Want[]): Want[] {
    const costs = new Map<number, number>();
    for (const [id, from, to] of wants) {
      if (id === noSegment || to < 0) continue;
      const cost = to === 0 ? Number.POSITIVE_INFINITY : this.requestCost + to - from;
      costs.set(id, (costs.get(id) ?? 0) + cost);
    }
    const joined = new Map<string, Want>();
    for (const want of wants) {
      const [id, , to] = want;
      const length = this.#catalogue.segments.get(id)?.table.segmentLength ?? 0;
      const isWhole = to >= 0 && (costs.get(id) ?? 0) >= this.requestCost + length;
      const own: Want = isWhole ? [id, 0, 0] : want;
      joined.set(String(own), own);
    }
    return [...joined.values()];
  }
}

/** Yields what a read needs. The read itself will report a fault. */
export function* wantsOf(read: () => unknown): Generator<Want, void, void> {
  try {
    read();
  } catch (cause) {
    if (cause instanceof Need) yield* cause.wants;
    else if (!(cause instanceof Fault)) throw cause;
  }
}

function wrongKind(hash: Uint8Array, expected: number, bytes: Uint8Array): Fault {
  const got = bytes[0] as number;
  return new Fault(Status.corruptChunk, hash, { field: Field.kind, offset: 0, expected, got });
}
