/** The types that sum trees take and return. */
import type { Durability } from '../storage/segment-store.js';

/** The root of a sum tree, which is all that a verifier needs. */
export interface SumRoot {
  /** 32 bytes in hexadecimal. */
  readonly hash: string;
  /** The sum of all leaves. */
  readonly sum: bigint;
}

/** The key of a leaf: 32 bytes, or a text, whose key is the SHA-256 of its UTF-8. */
export type SumKey = Uint8Array | string;

/** A leaf to put. An empty value with the sum 0 deletes the leaf. */
export interface SumItem {
  readonly key: SumKey;
  /** At most 1 MiB. */
  readonly value: Uint8Array;
  /** From 0 to 2^64 - 1. */
  readonly sum: bigint;
}

/** A leaf that was read. */
export interface SumLeaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly sum: bigint;
}

/** A leaf that changed. Without `before` it was added, without `after` it was deleted. */
export interface SumChange {
  readonly key: Uint8Array;
  readonly before?: SumLeaf;
  readonly after?: SumLeaf;
}

/** Options of a change of a sum tree. */
export interface SumChangeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly durability?: Durability | undefined;
}

/** Options of a put of leaves. */
export interface SumPutOptions<Row = SumItem> extends SumChangeOptions {
  /** JSON pointers to key, sum and value, as in a definition, for rows that are not `SumItem`s. */
  readonly key?: string | undefined;
  readonly sum?: string | undefined;
  readonly value?: string | undefined;
  readonly onProgress?: ((progress: { readonly leaves: number }) => void) | undefined;
  /** Never set: it only carries the type of a row. */
  readonly row?: Row;
}

/** The result of a change. */
export interface SumResult {
  readonly root: SumRoot;
  /** Leaves taken from the source. */
  readonly leaves: number;
  readonly ms: number;
  readonly slices: number;
  readonly longestSliceMs: number;
}

/** Options of a scan of leaves. */
export interface SumScanOptions {
  /** The first key, whether or not it exists. */
  readonly from?: SumKey | undefined;
  readonly signal?: AbortSignal | undefined;
}
