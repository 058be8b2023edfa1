/** Bytes without the rest of the buffer that they are a view of: all of that would be sent. */
export const trimBuffer = (bytes: Uint8Array): Uint8Array =>
  bytes.length < bytes.buffer.byteLength ? bytes.slice() : bytes;
