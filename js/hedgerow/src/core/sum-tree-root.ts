/** Reads the record of a sum tree in a commit: hash, sum and definition. */
import { hex } from '../base/hex.js';
import type { SumRoot } from './sum-tree-types.js';

/** The hash of a tree without leaves. */
const EMPTY_HASH = 'b1e8e8f2dc3b266452988cfe169aa73be25405eeead02ab5dd6b3c6fd0ca8d67';

/** Bytes of hash and sum, before the definition. */
const ROOT_BYTES = 40;

/** Returns the definition in a record; empty if the tree does not follow rows. */
export function toldDefinition(record: Uint8Array): string {
  return new TextDecoder().decode(record.subarray(ROOT_BYTES));
}

/** Returns the root in a record; an empty record stands for an absent tree, which has no leaves. */
export function rootOf(record: Uint8Array): SumRoot {
  if (record.length === 0) return { hash: EMPTY_HASH, sum: 0n };
  const view = new DataView(record.buffer, record.byteOffset);
  return { hash: hex(record.subarray(0, 32)), sum: view.getBigUint64(32, true) };
}
