/** Returns bytes without the rest of their buffer: a message would send all of it. */
export const trimBuffer = (bytes: Uint8Array): Uint8Array =>
  bytes.length < bytes.buffer.byteLength ? bytes.slice() : bytes;
