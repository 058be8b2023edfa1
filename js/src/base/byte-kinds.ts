/** Bytes of callers, also those of another realm: of a frame, or of a test's own globals. */

/** Whether it is a `Uint8Array`. */
export function isByteArray(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === 'Uint8Array';
}

/** Whether it is an `ArrayBuffer`. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  try {
    return Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  } catch {
    return false; // a revoked proxy
  }
}
