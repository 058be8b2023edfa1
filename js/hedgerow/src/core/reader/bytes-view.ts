/** Little-endian numbers in bytes, and the order of bytes. */

/** Reads 16 bits. */
export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
}

/** Reads 32 bits. */
export function readU32(bytes: Uint8Array, at: number): number {
  return (readU16(bytes, at) | (readU16(bytes, at + 2) << 16)) >>> 0;
}

/** Reads 64 bits; a number from 2^53 on is not exact. */
export function readU64(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) + readU32(bytes, at + 4) * 2 ** 32;
}

/** Compares the bytes `from` to `to` with all bytes of `other`: negative if they come first, 0 if they are the same. */
export function compareByteRange(
  bytes: Uint8Array,
  from: number,
  to: number,
  other: Uint8Array,
): number {
  const length = to - from;
  const shared = Math.min(length, other.length);
  for (let at = 0; at < shared; at++) {
    const difference = (bytes[from + at] as number) - (other[at] as number);
    if (difference !== 0) return difference;
  }
  return length - other.length;
}

/** Returns how many of the bytes `from` to `to` are UTF-8: all of them, or those before the first fault. */
export function countUtf8(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const first = bytes[at] as number;
    if (first < 0x80) {
      at += 1;
      continue;
    }
    // The length of a character, and the range of its second byte: RFC 3629, section 4.
    const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (first < 0xc2 || first > 0xf4 || at + length > to) break;
    const second = bytes[at + 1] as number;
    let isText = second >= low && second <= high;
    for (let next = at + 2; next < at + length; next++) {
      isText &&= (bytes[next] as number) >> 6 === 2;
    }
    if (!isText) break;
    at += length;
  }
  return at - from;
}

/** Decodes text. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
