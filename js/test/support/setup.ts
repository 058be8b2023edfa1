/** Runs before each suite in Node: what is equal is seen at once. Vitest takes seconds for some thousand rows. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { sameBytes } from './same-bytes.js';

/** Of what differs for Node it says nothing: to Vitest it may be equal all the same. */
function sameToNode(a: unknown, b: unknown): true | undefined {
  const areObjects = typeof a === 'object' && typeof b === 'object';
  return areObjects && isDeepStrictEqual(a, b) ? true : undefined;
}

expect.addEqualityTesters([sameBytes, sameToNode]);
