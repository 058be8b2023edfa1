// Reduces panics in the module to traps. WebAssembly cannot print the message of a panic. Yet each check of an array
// index carries a file, a line and numbers for it, and keeps the code that formats them.

import { exportSection, exportsOf, GLOBAL, TRAP } from './boundary.mjs';
import {
  block,
  contentOf,
  customOf,
  editSections,
  integer,
  list,
  SECTIONS,
  WasmReader,
} from './sections.mjs';

// Functions that never return, by their names without the hashes of their crates.
const DIVERGING = [
  /^core::panicking::/, // panic, panic_fmt, panic_bounds_check, ...
  /^core::(cell::panic_already|option::|result::)\w*(borrowed|failed)/,
  /^core::(slice|str)::.*(_fail|panic_on_ord_violation)$/,
  /^alloc::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)/,
  /^hashbrown::raw::Fallibility::(capacity_overflow|alloc_err)/,
];

// The ones among them that are called when an allocation fails.
const OUT_OF_MEMORY = /^(alloc::|hashbrown::)/;

/** Returns the name of a function without the hashes of its crates. */
export const plainName = (name) =>
  name.replace(/\[[0-9a-f]+\]/g, '').replace(/::h[0-9a-f]{16}$/, '');

const FUNCTION_NAMES = 1;

/** Returns the names of functions by their numbers. */
function namesOf(wasmBytes) {
  const names = new WasmReader(customOf(wasmBytes, 'name'));
  while (names.at < names.bytes.length) {
    const kind = names.byte();
    const reader = new WasmReader(names.block());
    if (kind === FUNCTION_NAMES)
      return new Map(reader.list(() => [reader.integer(), reader.text()]));
  }
  throw new Error('the module has no names of functions');
}

/** Returns the functions that never return, by their numbers, each with its name. */
function divergingOf(wasmBytes) {
  const diverging = [...namesOf(wasmBytes)]
    .map(([index, name]) => [index, plainName(name)])
    .filter(([, name]) => DIVERGING.some((pattern) => pattern.test(name)));
  // Names change with compilers: if the most common ones are missing, this fails.
  for (const expected of ['panic_bounds_check', 'handle_alloc_error']) {
    if (diverging.some(([, name]) => name.includes(expected))) continue;
    throw new Error(`no ${expected} found by its name: see scripts/lib/panics.mjs`);
  }
  return new Map(diverging);
}

/** Adds a number that is 0 at first, and exports it as `name`. Returns the module and the number of the global. */
function withFlag(wasmBytes, name) {
  const globals = new WasmReader(contentOf(wasmBytes, SECTIONS.globals));
  const index = globals.integer();
  const I32_VARIABLE = Uint8Array.of(0x7f, 0x01, 0x41, 0x00, 0x0b);
  return {
    index,
    bytes: editSections(wasmBytes, {
      [SECTIONS.globals]: () => Buffer.concat([integer(index + 1), globals.rest(), I32_VARIABLE]),
      [SECTIONS.exports]: () =>
        exportSection([...exportsOf(wasmBytes), { name, kind: GLOBAL, index }]),
    }),
  };
}

/**
 * Makes functions that only panic trap at once. wasm-opt then drops their arguments, and all code that only they reach.
 * If the cause is a failed allocation, the exported global `out_of_memory` becomes 1, so that the host knows it. The
 * module must not import, so that numbers of functions count its own.
 */
export function trapAtOnce(wasmBytes) {
  const diverging = divergingOf(wasmBytes);
  const { bytes, index: flag } = withFlag(wasmBytes, 'out_of_memory');
  // No locals; i32.const 1, global.set, unreachable.
  const note = [Uint8Array.of(0x00, 0x41, 0x01, 0x24), integer(flag), TRAP.subarray(1)];
  const noteAndTrap = Buffer.concat(note);
  const bodyOf = (index, body) => {
    if (!diverging.has(index)) return body;
    return OUT_OF_MEMORY.test(diverging.get(index)) ? noteAndTrap : TRAP;
  };
  return editSections(bytes, {
    [SECTIONS.code]: (content) => {
      const reader = new WasmReader(content);
      return list(reader.list((index) => block(bodyOf(index, reader.block()))));
    },
  });
}

// The path of a Rust source file, as in the message of a panic.
const SOURCE_FILE = /(?:crate|\/rustc|\/[^\0"<>|]*?\/(?:registry|toolchains))\/[\w+./@-]*?\.rs/g;

/**
 * Zeroes the source locations of panics, which no code reads once panics trap at once: paths of source files, and
 * records of four words: the address and the length of a path, line and column.
 */
export function blankLocations(wasmBytes) {
  const bytes = Uint8Array.from(wasmBytes);
  const segments = dataSegments(bytes);
  const lengths = new Map();
  for (const { start, end, address } of segments) {
    const text = Buffer.from(bytes.buffer, start, end - start).toString('latin1');
    for (const { 0: path, index } of text.matchAll(SOURCE_FILE)) {
      lengths.set(address + index, path.length);
      bytes.fill(0, start + index, start + index + path.length);
    }
  }
  for (const { start, end, address } of segments) {
    const view = new DataView(bytes.buffer, start, end - start);
    for (let at = -address & 3; at + 16 <= view.byteLength; at += 4) {
      const length = lengths.get(view.getUint32(at, true));
      if (length !== undefined && length === view.getUint32(at + 4, true)) {
        bytes.fill(0, start + at, start + at + 16);
      }
    }
  }
  return bytes;
}

/** Returns, for each active data segment of memory 0, the range of its bytes in the module, and its address. */
function dataSegments(bytes) {
  let at = 8;
  const number = () => {
    let [result, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      result |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return result >>> 0;
    }
  };
  const segments = [];
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = number();
    const end = at + length;
    if (section === 11) {
      for (let left = number(); left > 0; left--) {
        // It must be active, with an address that is an `i32.const`; otherwise fail.
        if (number() !== 0 || bytes[at++] !== 0x41) throw new Error('an unknown segment of data');
        const address = number();
        at++;
        const size = number();
        segments.push({ start: at, end: at + size, address });
        at += size;
      }
    }
    at = end;
  }
  return segments;
}
