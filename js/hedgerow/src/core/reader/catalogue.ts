/**
 * Where each chunk is: all copies of it in the known segments. A search goes through the tables, and begins with the
 * segment that it found last. So a store opens without a map of its chunks. Tables of a peer may be forged: each search
 * costs at most one pass over all tables.
 */
import { readU32 } from './bytes-view.js';
import type { Segment } from './segment.js';

/** A copy of a chunk. */
export interface Copy {
  readonly segment: Segment;
  readonly index: number;
}

/** The places of all chunks. */
export class Catalogue {
  readonly segments = new Map<number, Segment>();
  /** All segments, in the order of searches: the last one is searched first. */
  #order: Segment[] = [];

  /** Adds a segment. */
  add(segment: Segment): void {
    this.segments.set(segment.id, segment);
    this.#order.push(segment);
  }

  /** Removes a segment. */
  remove(segment: Segment): void {
    this.segments.delete(segment.id);
    this.#order = this.#order.filter((other) => other !== segment);
  }

  /** Yields the copies of a chunk. Removes a segment if it has a copy, and a damaged table. */
  *copies(hash: Uint8Array): Generator<Copy, void, void> {
    const start = readU32(hash, 0);
    for (const segment of [...this.#order].reverse()) {
      const { table } = segment;
      for (const index of table.chunksOf(hash, start)) {
        if (!table.isSound) {
          this.remove(segment);
          break;
        }
        // Hermes has no `Array.prototype.at`.
        if (segment !== this.#order[this.#order.length - 1]) {
          this.#order = [...this.#order.filter((other) => other !== segment), segment];
        }
        yield { segment, index };
      }
    }
  }
}
