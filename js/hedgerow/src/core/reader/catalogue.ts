/**
 * Where each chunk is: all copies of it in the known segments. A table is taken into the map when a search first comes
 * to it, the newest first, so that a store with many tables opens before all of them are.
 *
 * The map has the first 32 bits of each hash. Tables from a peer may be forged so that many chunks share them: a search
 * then costs no more than one pass over all tables.
 */
import { readU32 } from './bytes-view.js';
import type { Segment } from './segment.js';
import type { ChunkTable } from './table.js';

/** A copy of a chunk. */
export interface Copy {
  readonly segment: Segment;
  readonly index: number;
}

/** The places of all chunks. */
export class Catalogue {
  readonly segments = new Map<number, Segment>();
  /** The segments whose tables are not in the map, the oldest first. */
  #unlisted: Segment[] = [];
  readonly #copies = new Map<number, Copy[]>();

  /** Adds a segment. */
  add(segment: Segment): void {
    this.segments.set(segment.id, segment);
    this.#unlisted.push(segment);
  }

  /** Removes a segment. */
  remove(segment: Segment): void {
    this.segments.delete(segment.id);
    this.#unlisted = this.#unlisted.filter((other) => other !== segment);
    for (const start of new Set(startsOf(segment.table))) {
      const left = this.#copies.get(start)?.filter((copy) => copy.segment !== segment);
      if (left?.length) this.#copies.set(start, left);
      else this.#copies.delete(start);
    }
  }

  /** Yields the copies of a chunk. */
  *copies(hash: Uint8Array): Generator<Copy, void, void> {
    const start = readU32(hash, 0);
    const isCopy = ({ segment, index }: Copy) => segment.table.hasHash(index, hash);
    yield* (this.#copies.get(start) ?? []).filter(isCopy);
    for (;;) {
      const segment = this.#unlisted.pop();
      if (segment === undefined) return;
      this.#list(segment);
      const copies = this.#copies.get(start) ?? [];
      yield* copies.filter((copy) => copy.segment === segment && isCopy(copy));
    }
  }

  /** Takes the table of a segment into the map. */
  #list(segment: Segment): void {
    let index = 0;
    for (const start of startsOf(segment.table)) {
      const copy = { segment, index: index++ };
      const others = this.#copies.get(start);
      if (others === undefined) this.#copies.set(start, [copy]);
      else others.push(copy);
    }
  }
}

/** Yields the first 32 bits of each hash in a table. */
function* startsOf(table: ChunkTable): Generator<number, void, void> {
  for (let index = 0; index < table.count; index++) yield table.hashStart(index);
}
