/** Bytes of callers, also from another realm: from a frame, or from a test's own globals. */

/** Returns whether `value` is a `Uint8Array`. */
export function isByteArray(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === 'Uint8Array';
}

/** Returns whether `value` is an `ArrayBuffer`. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  try {
    return Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  } catch {
    return false; // a revoked proxy
  }
}

/** Returns whether a member of an iterable is a part of its bytes. No row is a byte array or a buffer. */
export function isPart(member: unknown): member is Uint8Array | ArrayBuffer {
  return isByteArray(member) || isBuffer(member);
}
