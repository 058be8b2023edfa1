/** Records of internal nodes, one after the other: length:u16 | node | length of each of its children:u16. */

/** Reads a record: its node, and where it ends. Throws a `RangeError` if it is cut off. */
export function recordAt(bytes: Uint8Array, at: number): { nodeBytes: Uint8Array; end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const from = at + 2;
  const to = from + view.getUint16(at, true);
  return { nodeBytes: bytes.subarray(from, to), end: to + 2 * view.getUint16(from + 2, true) };
}

/** Yields well-formed records, and their nodes. */
export function* recordsIn(
  bytes: Uint8Array,
): Generator<{ readonly nodeBytes: Uint8Array; readonly recordBytes: Uint8Array }, void, void> {
  for (let at = 0; at < bytes.length; ) {
    const { nodeBytes, end } = recordAt(bytes, at);
    yield { nodeBytes, recordBytes: bytes.subarray(at, end) };
    at = end;
  }
}
