/** The first key of a frame of edits, for its directory. */

/** Reads the key of the first edit of a delta that was made here: see `docs/format.md`. */
export function firstKeyOf(deltaBytes: Uint8Array): Uint8Array {
  let at = 5;
  const varint = (): number => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = deltaBytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  };
  const length = Math.floor(varint() / 4);
  // It shares no bytes with a key before it.
  varint();
  return deltaBytes.slice(at, at + length);
}
