/** The CRC-32 of gzip. It finds accidents, and stops no attacker. */

/** Bytes that one turn of the loop takes: `tables` has a table for each ("slicing by 8", Kounavis and Berry 2005). */
const SLICE = 8;

let tables: readonly Uint32Array[] | undefined;

function makeTables(): readonly Uint32Array[] {
  const all = [new Uint32Array(256)];
  const [first] = all as [Uint32Array];
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
    first[byte] = crc;
  }
  while (all.length < SLICE) {
    const before = all[all.length - 1] as Uint32Array;
    all.push(before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number)));
  }
  return all;
}

/** Computes the CRC-32 of all parts, one after the other. */
export function crc32(...parts: readonly Uint8Array[]): number {
  tables ??= makeTables();
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let crc = 0xffff_ffff;
  for (const part of parts) {
    const view = new DataView(part.buffer, part.byteOffset, part.length);
    const whole = part.length - (part.length % SLICE);
    for (let at = 0; at < whole; at += SLICE) {
      const low = view.getUint32(at, true) ^ crc;
      const high = view.getUint32(at + 4, true);
      crc =
        (t7[low & 0xff] as number) ^
        (t6[(low >>> 8) & 0xff] as number) ^
        (t5[(low >>> 16) & 0xff] as number) ^
        (t4[low >>> 24] as number) ^
        (t3[high & 0xff] as number) ^
        (t2[(high >>> 8) & 0xff] as number) ^
        (t1[(high >>> 16) & 0xff] as number) ^
        (t0[high >>> 24] as number);
    }
    for (let at = whole; at < part.length; at++) {
      crc = (crc >>> 8) ^ (t0[(crc ^ (part[at] as number)) & 0xff] as number);
    }
  }
  return ~crc >>> 0;
}
