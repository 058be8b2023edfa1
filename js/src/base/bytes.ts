/** Bytes that may come from another realm: under jsdom, IndexedDB and SQLite return those of Node. */

/** A `Uint8Array` of this realm over the same memory; `undefined` if `value` is not an `ArrayBufferView`. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether both are defined and have the same bytes. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a?.length === b?.length && a?.every((byte, at) => byte === b?.[at]) === true;
}
