/** The CRC-32 of gzip: finds accidents, and stops no attacker. */

let crcTable: Uint32Array | undefined;

/** The CRC-32 of all parts, one after the other. */
export function crc32(...parts: readonly Uint8Array[]): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
    return crc;
  });
  let crc = 0xffff_ffff;
  for (const part of parts) {
    for (const byte of part) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] as number);
  }
  return ~crc >>> 0;
}
