// The boundary of the core: functions that take and return numbers, and a memory. So the module of rustc does not
// need wasm-bindgen's tool: this only removes what that tool would read.

import binaryen from 'binaryen';
import { withoutCustomSections } from './sections.mjs';

// The macro `#[wasm_bindgen]` ends names with a hash; `#[unsafe(no_mangle)]` would not.
const plainName = (name) => name.replace(/_[0-9a-f]{16}$/, '');

/**
 * Removes all exports that are not of the boundary, and gives the others their plain names. Returns the
 * module, and the name, parameters and results of each function that it exports.
 */
export function keepBoundary(wasmBytes) {
  binaryen.setDebugInfo(true); // the names of functions
  const module = binaryen.readBinary(withoutCustomSections(wasmBytes, '__wasm_bindgen_unstable'));
  const functions = [];
  for (const { name, kind, value } of exportsOf(module)) {
    if (kind === binaryen.ExternalMemory) continue;
    module.removeExport(name);
    if (kind !== binaryen.ExternalFunction || name.startsWith('__')) continue;
    const { params, results } = binaryen.getFunctionInfo(module.getFunction(value));
    module.addFunctionExport(value, plainName(name));
    functions.push({ name: plainName(name), params: typesOf(params), results: typesOf(results) });
  }
  module.runPasses(['remove-unused-module-elements']);
  const bytes = module.emitBinary();
  module.dispose();
  refuseImports(bytes);
  return { bytes, functions: functions.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Throws if the module has imports: the wrapper provides none. */
function refuseImports(wasmBytes) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasmBytes));
  if (imports.length === 0) return;
  const names = imports.map(({ module, name }) => `${module}.${name}`).join(', ');
  throw new Error(`the module imports ${names}: only numbers cross its boundary`);
}

const exportsOf = (module) =>
  Array.from({ length: module.getNumExports() }, (_, index) =>
    binaryen.getExportInfo(module.getExportByIndex(index)),
  );

const TYPES = new Map([
  [binaryen.i32, 'number'],
  [binaryen.f32, 'number'],
  [binaryen.f64, 'number'],
  [binaryen.i64, 'bigint'],
]);

function typesOf(type) {
  return [...binaryen.expandType(type)].map((one) => {
    const known = TYPES.get(one);
    if (known === undefined) throw new Error('only numbers cross the boundary of the module');
    return known;
  });
}

/** The function's type in TypeScript. */
export function signatureOf({ params, results }) {
  const letters = params.map((type, index) => `${String.fromCharCode(97 + index)}: ${type}`);
  return `(${letters.join(', ')}) => ${results[0] ?? 'void'}`;
}
