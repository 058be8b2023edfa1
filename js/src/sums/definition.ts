/** What the leaves of a sum tree that follows rows are made of, checked and as the core reads it. */
import { HedgerowError } from '../errors.js';
import { ROOT_BYTES, type SumDefinition } from '../sum-tree.js';

const POINTER = /^(\/([^~]|~[01])*)?$/;

/** The text of a definition; throws `invalid-argument`. */
export function definitionText({ key, sum, value, prefix }: SumDefinition): string {
  for (const pointer of [key ?? '', sum, value ?? '']) {
    if (typeof pointer === 'string' && POINTER.test(pointer)) continue;
    throw new HedgerowError('invalid-argument', `not a JSON pointer: ${String(pointer)}`);
  }
  return JSON.stringify([key ?? '', sum, value ?? '', prefix ?? '']);
}

/** The definition in what a commit tells of a tree; empty when it follows no rows. */
export function toldDefinition(told: Uint8Array): string {
  return new TextDecoder().decode(told.subarray(ROOT_BYTES));
}
