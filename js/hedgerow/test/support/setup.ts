/** Runs before each suite in Node: compares equal values at once. Vitest takes seconds for some thousand rows. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { sameBytes } from './same-bytes.js';

/** Returns `undefined` where values differ for Node: they may still be equal to Vitest. */
function sameToNode(a: unknown, b: unknown): true | undefined {
  const areObjects = typeof a === 'object' && typeof b === 'object';
  return areObjects && isDeepStrictEqual(a, b) ? true : undefined;
}

expect.addEqualityTesters([sameBytes, sameToNode]);
