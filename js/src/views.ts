/** Bytes that may come from another realm: under jsdom what IndexedDB and SQLite give is of Node's own. */

/** As a `Uint8Array` of this realm over the same memory; `undefined` for what is no view of bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
