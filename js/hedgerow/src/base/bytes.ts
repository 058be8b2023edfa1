/** Bytes, which may come from another realm: under jsdom, IndexedDB and SQLite return Node's bytes. */

/** Returns a `Uint8Array` of this realm over the same memory; `undefined` if `value` is not an `ArrayBufferView`. */
export function toUint8Array(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Returns whether both are defined and have the same bytes. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a?.length === b?.length && a?.every((byte, at) => byte === b?.[at]) === true;
}

/** Joins all bytes, one part after the other. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
