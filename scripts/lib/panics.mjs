// Reduces panics in the module to traps. WebAssembly cannot print the message of a panic. Yet each
// check of an array index carries a file, a line and numbers for it, and keeps the code that formats
// them.

import binaryen from 'binaryen';

// Functions that never return, by their names without the hashes of their crates.
const DIVERGING = [
  /^core::panicking::/, // panic, panic_fmt, panic_bounds_check, ...
  /^core::(cell::panic_already|option::|result::)\w*(borrowed|failed)/,
  /^core::(slice|str)::.*(_fail|panic_on_ord_violation)$/,
  /^alloc::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)/,
  /^hashbrown::raw::Fallibility::(capacity_overflow|alloc_err)/,
];

// Those of them that are called when an allocation fails.
const OUT_OF_MEMORY = /^(alloc::|hashbrown::)/;

// Functions that only a panic calls, through vtables of the values in its message.
const TELLING =
  /^<?core::fmt::|^<.* as core::fmt::\w+>::|^(<|core::ptr::drop_in_place::<)std::panicking::/;
const TELLS = /^<?(core::fmt|std::panicking)::/;

const plainName = (name) => name.replace(/\[[0-9a-f]+\]/g, '').replace(/::h[0-9a-f]{16}$/, '');

/**
 * Makes functions that only panic trap at once. wasm-opt then drops their arguments, and all code
 * that only they reach. If the cause is a failed allocation, the exported global `out_of_memory`
 * becomes 1, so that the host can tell.
 */
export function trapAtOnce(wasmBytes) {
  binaryen.setDebugInfo(true); // the names of functions, for profiles
  const module = binaryen.readBinary(wasmBytes);
  const infos = functionsOf(module);
  const diverging = infos.filter(
    ({ name, module: importedFrom }) =>
      importedFrom === '' && DIVERGING.some((pattern) => pattern.test(plainName(name))),
  );
  // Names change with compilers: if the most common ones are missing, fail.
  for (const expected of ['panic_bounds_check', 'handle_alloc_error']) {
    if (diverging.some(({ name }) => name.includes(expected))) continue;
    throw new Error(`no ${expected} found by its name: see scripts/lib/panics.mjs`);
  }
  module.addGlobal('out_of_memory', binaryen.i32, true, module.i32.const(0));
  module.addGlobalExport('out_of_memory', 'out_of_memory');
  const note = () => module.global.set('out_of_memory', module.i32.const(1));
  for (const { name, params, results } of diverging) {
    const isMemory = OUT_OF_MEMORY.test(plainName(name));
    const trap = module.unreachable();
    module.removeFunction(name);
    const body = isMemory ? module.block(null, [note(), trap], binaryen.unreachable) : trap;
    module.addFunction(name, params, results, [], body);
  }
  for (const { name, params, results } of tellingOf(module)) {
    module.removeFunction(name);
    module.addFunction(name, params, results, [], module.unreachable());
  }
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const functionsOf = (module) =>
  Array.from({ length: module.getNumFunctions() }, (_, index) =>
    binaryen.getFunctionInfo(module.getFunctionByIndex(index)),
  );

/**
 * The functions in tables that only format messages of panics. None if any other code formats, since
 * that might call them.
 */
function tellingOf(module) {
  const others = binaryen.readBinary(module.emitBinary());
  const segments = Array.from({ length: others.getNumElementSegments() }, (_, index) =>
    binaryen.getElementSegmentInfo(others.getElementSegmentByIndex(index)),
  );
  const inTables = new Set(segments.flatMap(({ data }) => data));
  const isTelling = (name) => inTables.has(name) && TELLING.test(plainName(name));
  for (const name of inTables) {
    if (!isTelling(name)) others.addFunctionExport(name, `${name} in a table`);
  }
  for (const { name } of segments) others.removeElementSegment(name);
  others.runPasses(['remove-unused-module-elements']);
  const tells = functionsOf(others).some(({ name }) => TELLS.test(plainName(name)));
  others.dispose();
  return tells ? [] : functionsOf(module).filter(({ name }) => isTelling(name));
}

// The path of a Rust source file, as in the message of a panic.
const SOURCE_FILE = /(?:crate|\/rustc|\/[^\0"<>|]*?\/(?:registry|toolchains))\/[\w+./@-]*?\.rs/g;

/**
 * Zeroes the source locations of panics, which nothing reads once panics trap at once: paths of source files, and
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

/** For each active data segment of memory 0: the range of its bytes in the module, and its address. */
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
