/** What tests use of Node's `util`, by Vitest's own. */
import { equals, iterableEquality, sparseArrayEquality, typeEquality } from '@vitest/expect';
import { inspect as display } from '@vitest/utils/display';
import { sameBytes } from '../../support/same-bytes.js';

/** As Node's, for what tests compare: JSON, bytes, maps, sets, errors. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return equals(a, b, [sameBytes, iterableEquality, typeEquality, sparseArrayEquality], true);
}

/** A value in one line, as failures print it. */
export function inspect(value: unknown, { depth = 6 }: { depth?: number } = {}): string {
  return display(value, { depth, truncate: 0 });
}
