// The sections of a WebAssembly module, which Binaryen's API does not expose.

const CUSTOM = 0;

/** Reads LEB128 numbers and length-prefixed strings from bytes. */
export class WasmReader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  integer() {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  text() {
    const length = this.integer();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }
}

/** Each section: its id, where it starts, where its content starts, and where it ends. */
export function* sectionsOf(wasmBytes) {
  const reader = new WasmReader(wasmBytes, 8); // after the magic number and the version
  while (reader.at < wasmBytes.length) {
    const start = reader.at;
    const id = wasmBytes[reader.at++];
    const length = reader.integer();
    const content = reader.at;
    reader.at += length;
    yield { id, start, content, end: reader.at };
  }
}

/** The module without its custom sections called `name`. */
export function withoutCustomSections(wasmBytes, name) {
  const kept = [wasmBytes.subarray(0, 8)];
  for (const { id, start, content, end } of sectionsOf(wasmBytes)) {
    const isDropped = id === CUSTOM && new WasmReader(wasmBytes, content).text() === name;
    if (!isDropped) kept.push(wasmBytes.subarray(start, end));
  }
  return Buffer.concat(kept);
}
