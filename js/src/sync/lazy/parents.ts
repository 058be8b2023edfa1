/** What the segments of a store tell of nodes at the remote: the last ones that were asked are kept at hand. */

import { hex } from '../../base/hex.js';
import type { HashFunction } from '../remote/format/content-names.js';
import type { LazySegments } from './lazy-segments.js';
import { type FarNode, type FarNodeIndex, hashAt, namedIn } from './table.js';

/** Segments whose nodes are kept at hand. */
const MOST = 32;

/** What is not told by anybody. */
const nothing = (): FarNodeIndex => ({ nodes: new Map(), far: new Set(), damaged: new Map() });

export class Parents {
  readonly #segments: LazySegments;
  readonly #hash: HashFunction;
  readonly #known = new Map<number, Promise<FarNodeIndex>>();

  constructor(segments: LazySegments, hash: HashFunction) {
    this.#segments = segments;
    this.#hash = hash;
  }

  /** The hash, in hexadecimal, of the chunk of a segment that begins at `from`; '' if none does. */
  nameAt(id: number, from: number): string {
    const table = this.#segments.tableOf(id);
    const hashBytes = table && hashAt(table, from);
    return hashBytes === undefined ? '' : hex(hashBytes);
  }

  /** What a segment tells. */
  of(id: number): Promise<FarNodeIndex> {
    const known = this.#known.get(id);
    if (known !== undefined) {
      // The last in the order of the map is the one that was asked last.
      this.#known.delete(id);
      this.#known.set(id, known);
      return known;
    }
    const named = this.#read(id);
    this.#known.set(id, named);
    named.catch(() => this.#known.delete(id));
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
    return named;
  }

  async #read(id: number): Promise<FarNodeIndex> {
    const table = this.#segments.tableOf(id);
    const [segmentBytes] = await this.#segments.inner.read([id]);
    if (table === undefined || segmentBytes === undefined) return nothing();
    return namedIn(table, segmentBytes, this.#hash);
  }

  /** The nodes at the remote that a segment names, by their hashes in hexadecimal. */
  async nodes(id: number): Promise<ReadonlyMap<string, FarNode>> {
    return (await this.of(id)).nodes;
  }
}
