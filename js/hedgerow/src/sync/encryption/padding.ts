/** Pads plaintext, since ciphertext is as long: length:u32 | bytes | zeros, to a multiple of a unit. */

const LENGTH_BYTES = 4;

export function paddedLength(length: number, unit: number): number {
  return Math.ceil((LENGTH_BYTES + length) / unit) * unit;
}

export function padBytes(bytes: Uint8Array, unit: number): Uint8Array {
  const all = new Uint8Array(paddedLength(bytes.length, unit));
  new DataView(all.buffer).setUint32(0, bytes.length, true);
  all.set(bytes, LENGTH_BYTES);
  return all;
}

/** Returns the bytes that `padBytes` was given; `undefined` if it did not make `all`. */
export function unpadBytes(all: Uint8Array, unit: number): Uint8Array | undefined {
  if (all.length < LENGTH_BYTES) return undefined;
  const length = new DataView(all.buffer, all.byteOffset).getUint32(0, true);
  if (paddedLength(length, unit) !== all.length) return undefined;
  const end = LENGTH_BYTES + length;
  return all.subarray(end).every((byte) => byte === 0)
    ? all.subarray(LENGTH_BYTES, end)
    : undefined;
}
