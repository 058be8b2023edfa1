/** The types that sum trees take and return. */

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

/** The result of a change. */
export interface SumResult {
  readonly root: SumRoot;
  /** Leaves taken from the source. */
  readonly leaves: number;
  readonly stats: { readonly ms: number; readonly slices: number; readonly longestSliceMs: number };
}
