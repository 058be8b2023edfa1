/** What tests use of Node's `util`, by Vitest's own. */
import { equals, iterableEquality, sparseArrayEquality, typeEquality } from '@vitest/expect';
import { inspect as display } from '@vitest/utils/display';

/** Vitest's own look at each byte as at a member of an object, which takes seconds for a megabyte. */
function bytesEquality(a: unknown, b: unknown): boolean | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const [these, those] = [bytesOf(a), bytesOf(b)];
  return these.length === those.length && these.every((byte, at) => byte === those[at]);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** As Node's, for what tests compare: JSON, bytes, maps, sets, errors. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return equals(a, b, [bytesEquality, iterableEquality, typeEquality, sparseArrayEquality], true);
}

/** A value in one line, as failures print it. */
export function inspect(value: unknown, { depth = 6 }: { depth?: number } = {}): string {
  return display(value, { depth, truncate: 0 });
}
