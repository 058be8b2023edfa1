/**
 * A faster comparison of bytes for Vitest: its own compares each byte as a member, which takes seconds for a megabyte.
 */

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A tester of Vitest; `undefined` unless both values are views of one kind. */
export function sameBytes(a: unknown, b: unknown): boolean | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  const [these, those] = [bytesOf(a), bytesOf(b)];
  return these.length === those.length && these.every((byte, at) => byte === those[at]);
}
