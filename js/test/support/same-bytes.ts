/** How Vitest compares bytes: by itself it looks at each as at a member of an object, which takes seconds for a megabyte. */

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A tester of Vitest; of what are no two views of one kind it says nothing. */
export function sameBytes(a: unknown, b: unknown): boolean | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  const [these, those] = [bytesOf(a), bytesOf(b)];
  return these.length === those.length && these.every((byte, at) => byte === those[at]);
}
