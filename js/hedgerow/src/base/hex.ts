const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Writes bytes in hexadecimal. */
export function hex(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += PAIRS[byte];
  return digits;
}

/** Reads bytes from pairs of hexadecimal digits, which the caller has checked. */
export function unhex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
