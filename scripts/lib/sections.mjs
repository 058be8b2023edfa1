// Reads and edits the sections of a WebAssembly module without a package: a build for development needs no other edits.

/** The ids of the sections that the scripts read or edit. */
export const SECTIONS = {
  custom: 0,
  types: 1,
  imports: 2,
  functions: 3,
  globals: 6,
  exports: 7,
  code: 10,
};

/** The bytes with which every module begins: the magic number and the version. */
const START = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

/** Reads LEB128 numbers and data with a length or a count before it. */
export class WasmReader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  integer() {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** Reads bytes with their length before them. */
  block() {
    const length = this.integer();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text() {
    return new TextDecoder().decode(this.block());
  }

  /** Reads items with their count before them; `read` reads one, and may ask for its number. */
  list(read) {
    return Array.from({ length: this.integer() }, (_, index) => read(index));
  }

  rest() {
    return this.bytes.subarray(this.at);
  }
}

/** Writes a number as LEB128. */
export function integer(value) {
  const bytes = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Uint8Array.from([...bytes, left]);
    bytes.push((left % 128) | 0x80);
  }
}

/** Writes bytes with their length before them. */
export const block = (bytes) => Buffer.concat([integer(bytes.length), bytes]);

export const text = (string) => block(Buffer.from(string));

/** Writes items with their count before them. */
export const list = (items) => Buffer.concat([integer(items.length), ...items]);

const section = (id, content) => Buffer.concat([Uint8Array.of(id), block(content)]);

/** Makes a module of these sections, which are `[id, content]` in the order of the format. */
export const moduleOf = (sections) =>
  Buffer.concat([START, ...sections.map(([id, content]) => section(id, content))]);

/** Yields each section: its id, its start, the start of its content, and its end. */
export function* sectionsOf(wasmBytes) {
  const reader = new WasmReader(wasmBytes, START.length);
  while (reader.at < wasmBytes.length) {
    const start = reader.at;
    const id = reader.byte();
    const length = reader.integer();
    const content = reader.at;
    reader.at += length;
    yield { id, start, content, end: reader.at };
  }
}

/** Returns the content of the first section with this id; without one, no bytes. */
export function contentOf(wasmBytes, id) {
  for (const { id: found, content, end } of sectionsOf(wasmBytes))
    if (found === id) return wasmBytes.subarray(content, end);
  return Uint8Array.of();
}

/** Returns the content of the custom section with this name; without one, no bytes. */
export function customOf(wasmBytes, name) {
  for (const { id, content, end } of sectionsOf(wasmBytes)) {
    if (id !== SECTIONS.custom) continue;
    const reader = new WasmReader(wasmBytes.subarray(content, end));
    if (reader.text() === name) return reader.rest();
  }
  return Uint8Array.of();
}

/**
 * Returns the module with other contents in some sections. `edits` has functions by the ids of sections, from the
 * content to the new one; a section for which one returns `undefined` is left out. An edit without a section throws.
 */
export function editSections(wasmBytes, edits) {
  const left = new Set(Object.keys(edits).map(Number));
  const sections = [];
  for (const { id, content, end } of sectionsOf(wasmBytes)) {
    const before = wasmBytes.subarray(content, end);
    const after = edits[id] === undefined ? before : edits[id](before);
    left.delete(id);
    if (after !== undefined) sections.push([id, after]);
  }
  if (left.size > 0) throw new Error(`the module has no section ${[...left].join(', ')}`);
  return moduleOf(sections);
}
