/** What a commit tells of a sum tree. */
import { hex } from '../base/hex.js';
import type { SumRoot } from './sum-types.js';

/** The hash of a tree without leaves. */
const EMPTY_HASH = 'b1e8e8f2dc3b266452988cfe169aa73be25405eeead02ab5dd6b3c6fd0ca8d67';

/** Bytes of hash and sum in what a commit tells of a tree. */
const ROOT_BYTES = 40;

/** The definition in what a commit tells of a tree; empty when it follows no rows. */
export function toldDefinition(told: Uint8Array): string {
  return new TextDecoder().decode(told.subarray(ROOT_BYTES));
}

/** Reads the root at the start of what a commit tells of a tree. */
export function rootOf(told: Uint8Array): SumRoot {
  if (told.length === 0) return { hash: EMPTY_HASH, sum: 0n };
  const view = new DataView(told.buffer, told.byteOffset);
  return { hash: hex(told.subarray(0, 32)), sum: view.getBigUint64(32, true) };
}
