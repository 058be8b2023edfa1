/** Reads which nodes at the remote the segments of a store name, and keeps the answers of the last ones. */

import { hex } from '../../base/hex.js';
import type { HashFunction } from '../remote/format/content-names.js';
import { type FarNode, type FarNodeIndex, hashAt, namedIn } from './lazy-segment-table.js';
import type { LazySegments } from './lazy-segments.js';

/** Segments whose nodes are kept. */
const MOST = 32;

/** Makes the index of a segment that names no nodes. */
const nothing = (): FarNodeIndex => ({ nodes: new Map(), far: new Set(), damaged: new Map() });

export class RemoteNodeIndex {
  readonly #segments: LazySegments;
  readonly #hash: HashFunction;
  readonly #known = new Map<number, Promise<FarNodeIndex>>();

  constructor(segments: LazySegments, hash: HashFunction) {
    this.#segments = segments;
    this.#hash = hash;
  }

  /** Returns the hash, in hexadecimal, of the chunk of a segment that begins at `from`; '' if no chunk does. */
  nameAt(id: number, from: number): string {
    const table = this.#segments.tableOf(id);
    const hashBytes = table && hashAt(table, from);
    return hashBytes === undefined ? '' : hex(hashBytes);
  }

  /** Resolves to the index of a segment. */
  of(id: number): Promise<FarNodeIndex> {
    const known = this.#known.get(id);
    if (known !== undefined) {
      // The map has the segments in the order of their last use.
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

  /** Resolves to the nodes at the remote that a segment names, by their hashes in hexadecimal. */
  async nodes(id: number): Promise<ReadonlyMap<string, FarNode>> {
    return (await this.of(id)).nodes;
  }
}
