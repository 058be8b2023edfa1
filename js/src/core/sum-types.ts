/** What is put into sum trees, and what comes out. */
import type { Durability } from '../storage/segment-store.js';

/** The root of a sum tree: all that a verifier needs to know of it. */
export interface SumRoot {
  /** 32 bytes in hexadecimal. */
  readonly hash: string;
  /** The sum of all leaves. */
  readonly sum: bigint;
}

/** The key of a leaf: 32 bytes, or a text that stands for its SHA-256 (of its UTF-8). */
export type SumKey = Uint8Array | string;

/** A leaf as it is put. A leaf without a value and with the sum 0 is none: it deletes. */
export interface SumItem {
  readonly key: SumKey;
  /** At most 1 MiB. */
  readonly value: Uint8Array;
  /** From 0 to 2^64 - 1. */
  readonly sum: bigint;
}

/** A leaf as it is read. */
export interface SumLeaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly sum: bigint;
}

/** A leaf that changed; without `before` it is new, without `after` it is gone. */
export interface SumChange {
  readonly key: Uint8Array;
  readonly before?: SumLeaf;
  readonly after?: SumLeaf;
}

/** How a sum tree is changed. */
export interface SumChangeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly durability?: Durability | undefined;
}

/** How many leaves are put. */
export interface SumPutOptions<Row = SumItem> extends SumChangeOptions {
  /** Where key, sum and value are in rows that are no `SumItem`s: pointers, as in a definition. */
  readonly key?: string | undefined;
  readonly sum?: string | undefined;
  readonly value?: string | undefined;
  readonly onProgress?: ((progress: { readonly leaves: number }) => void) | undefined;
  /** Only for its type. */
  readonly row?: Row;
}

/** What a change came to. */
export interface SumResult {
  readonly root: SumRoot;
  /** Leaves taken from the source. */
  readonly leaves: number;
  readonly ms: number;
  readonly slices: number;
  readonly longestSliceMs: number;
}

/** Which leaves are read. */
export interface SumScanOptions {
  /** The key to begin with, or what would come after it. */
  readonly from?: SumKey | undefined;
  readonly signal?: AbortSignal | undefined;
}
