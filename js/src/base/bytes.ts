/** Bytes that may come from another realm: under jsdom what IndexedDB and SQLite give is of Node's own. */

/** As a `Uint8Array` of this realm over the same memory; `undefined` for what is no view of bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether both are there and have the same bytes. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a?.length === b?.length && a?.every((byte, at) => byte === b?.[at]) === true;
}
