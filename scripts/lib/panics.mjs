// What is left of a panic in the module: the trap at its end. Nobody sees its message, since
// WebAssembly has nowhere to print it; yet each check of an index carries a file, a line
// and numbers for it, and the formatting behind them is kept alive.

import binaryen from 'binaryen';

// Functions that never return, by their names without the hashes of their crates.
const DIVERGING = [
  /^core::panicking::/, // panic, panic_fmt, panic_bounds_check, ...
  /^core::(cell::panic_already|option::|result::)\w*(borrowed|failed)/,
  /^core::(slice|str)::.*(_fail|panic_on_ord_violation)$/,
  /^alloc::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)/,
  /^hashbrown::raw::Fallibility::(capacity_overflow|alloc_err)/,
];

// Those of them that are called when memory could not be had.
const OUT_OF_MEMORY = /^(alloc::|hashbrown::)/;

// What only a panic calls, through the vtables of what could be told of it.
const TELLING =
  /^<?core::fmt::|^<.* as core::fmt::\w+>::|^(<|core::ptr::drop_in_place::<)std::panicking::/;
const TELLS = /^<?(core::fmt|std::panicking)::/;

const plainName = (name) => name.replace(/\[[0-9a-f]+\]/g, '').replace(/::h[0-9a-f]{16}$/, '');

/**
 * Has functions that only panic trap at once. wasm-opt then drops their arguments, and all
 * that is reached through them alone. The host learns of a trap for want of memory by the
 * exported global `out_of_memory`, which is then 1.
 */
export function trapAtOnce(wasmBytes) {
  binaryen.setDebugInfo(true); // the names of functions, for profiles
  const module = binaryen.readBinary(wasmBytes);
  const infos = functionsOf(module);
  const diverging = infos.filter(
    ({ name, module: importedFrom }) =>
      importedFrom === '' && DIVERGING.some((pattern) => pattern.test(plainName(name))),
  );
  // Names change with compilers: a module without the most common ones was not understood.
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
 * The functions of tables that tell of a panic; none when something formats beside them: then
 * nobody knows which of them it calls.
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
