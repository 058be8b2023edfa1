/** The part of Node's `util` that tests use, by Vitest's own functions. */
import { equals, iterableEquality, sparseArrayEquality, typeEquality } from '@vitest/expect';
import { inspect as display } from '@vitest/utils/display';
import { sameBytes } from '../../support/same-bytes.js';

/** As in Node, for the values that tests compare: JSON, bytes, maps, sets, errors. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return equals(a, b, [sameBytes, iterableEquality, typeEquality, sparseArrayEquality], true);
}

/** Prints a value in one line, as in failures. */
export function inspect(value: unknown, { depth = 6 }: { depth?: number } = {}): string {
  return display(value, { depth, truncate: 0 });
}
