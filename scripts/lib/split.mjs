// Splits the module in two: a part that a page downloads at its start, and one that is loaded at the first call. Both
// share one memory, one stack and one table, so that functions do not depend on their part. Binaryen has `wasm-split`
// for that, but its npm package does not.

import binaryen from 'binaryen';
import { sectionsOf, WasmReader } from './sections.mjs';

/** The name of the module that the later part imports from: the exports of the first part. */
const FIRST = 'first';

// The later part has its own copies of functions of up to this many bytes of code (before wasm-opt), and imports larger
// ones. For an import the first part needs an export, whose signature wasm-opt must keep; a copy costs the first part
// no bytes.
const COPIED_BYTES = 1_000;

// Removes code that the exports do not reach.
const DROP_UNREACHED = ['remove-unused-module-elements'];

/**
 * Splits a module that has the names of its functions. `isLater` selects the exports of the later
 * part. The first part keeps all that the other exports reach, and every function in a table, since
 * its index may be in memory. It also keeps all data.
 *
 * Returns `first`, which is `wasmBytes` itself when no export is later; `later`, which imports
 * from `first`; and `kept`, the names and bytes of code of the functions in `first`.
 */
export function split(wasmBytes, isLater, copiedBytes = COPIED_BYTES) {
  binaryen.setDebugInfo(true); // the names of functions
  const first = binaryen.readBinary(wasmBytes);
  refuseWhatIsNotSplit(first);
  for (const { name } of exportsOf(first)) if (isLater(name)) first.removeExport(name);

  const sizes = codeSizes(wasmBytes);
  const defined = functionsOf(first).filter(isDefined);
  const bytesOf = new Map(defined.map(({ name }, index) => [name, sizes[index]]));
  const kept = functionsKept(wasmBytes, isLater);
  const isImport = (item) => !isDefined(item) || bytesOf.get(item.name) > copiedBytes;

  const later = laterPart(wasmBytes, isLater, kept.filter(isImport));
  const hasLater = later.getNumExports() > 0;
  linkNames(first, later);
  const parts = {
    first: hasLater ? emit(first) : wasmBytes,
    later: emit(later),
    kept: kept.filter(isDefined).map(({ name }) => ({ name, bytes: bytesOf.get(name) })),
  };
  first.dispose();
  later.dispose();
  return parts;
}

/** Refuses a start function and passive data. Without threads, rustc makes neither. */
function refuseWhatIsNotSplit(module) {
  if (module.getStart() !== 0) throw new Error('a module with a start function is not split');
  const isPassive = (n) => module.getDataSegmentInfo(module.getDataSegmentByIndex(n)).passive;
  // The later part has no data to copy to memory.
  if (listed(module.getNumDataSegments(), isPassive).includes(true)) {
    throw new Error('a module with passive data is not split');
  }
}

/** Finds the functions that are reached without the later exports, by calls or through a table. */
function functionsKept(wasmBytes, isLater) {
  const module = binaryen.readBinary(wasmBytes);
  for (const { name } of exportsOf(module)) if (isLater(name)) module.removeExport(name);
  // All functions of an exported table count as called.
  for (const { name } of tablesOf(module)) module.addTableExport(name, `all of ${name}`);
  module.runPasses(DROP_UNREACHED);
  const kept = functionsOf(module);
  module.dispose();
  return kept;
}

/** Makes a module with the later exports alone, which imports `functions`, and all state. */
function laterPart(wasmBytes, isLater, functions) {
  const module = binaryen.readBinary(wasmBytes);
  const memory = exportsOf(module).find(({ kind }) => kind === binaryen.ExternalMemory);
  if (memory === undefined) throw new Error('a module that exports no memory is not split');
  for (const { name } of exportsOf(module)) if (!isLater(name)) module.removeExport(name);

  for (const { name, params, results } of functions) {
    module.removeFunction(name);
    module.addFunctionImport(name, FIRST, name, params, results);
  }
  for (const { name } of segmentsOf(module)) module.removeElementSegment(name);
  for (const { name } of tablesOf(module)) module.addTableImport(name, FIRST, name);
  for (const { name, type, mutable } of globalsOf(module)) {
    module.addGlobalImport(name, FIRST, name, type, mutable);
  }
  // Imports the memory without its data, and with any size that it has reached.
  const { initial } = module.getMemoryInfo(memory.value);
  module.setMemory(initial, -1, null, [], false, false, memory.value);
  module.addMemoryImport(memory.value, FIRST, memory.name);
  module.runPasses(DROP_UNREACHED);
  return module;
}

/** Makes `first` export all imports of `later`, under the shortest names. */
function linkNames(first, later) {
  const exported = exportsOf(first);
  const taken = new Set(exported.map(({ name }) => name));
  const spare = shortNames(taken);
  const nameFor = (kind, item, add) => {
    const known = exported.find((other) => other.kind === kind && other.value === item.name);
    if (known !== undefined) return known.name;
    const { value } = spare.next();
    add(item.name, value);
    return value;
  };
  for (const item of functionsOf(later)) {
    if (isDefined(item)) continue;
    const name = nameFor(binaryen.ExternalFunction, item, first.addFunctionExport);
    later.addFunctionImport(item.name, FIRST, name, item.params, item.results);
  }
  for (const item of tablesOf(later)) {
    const name = nameFor(binaryen.ExternalTable, item, first.addTableExport);
    later.addTableImport(item.name, FIRST, name);
  }
  for (const item of globalsOf(later)) {
    const name = nameFor(binaryen.ExternalGlobal, item, first.addGlobalExport);
    later.addGlobalImport(item.name, FIRST, name, item.type, item.mutable);
  }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

function* shortNames(taken) {
  for (
    let prefix = [''];
    ;
    prefix = prefix.flatMap((start) => [...LETTERS].map((c) => start + c))
  ) {
    for (const start of prefix) {
      for (const letter of LETTERS) if (!taken.has(start + letter)) yield start + letter;
    }
  }
}

function emit(module) {
  if (module.validate() !== 1) throw new Error('a part of the module is not valid');
  return module.emitBinary();
}

const isDefined = ({ module }) => !module;

const listed = (length, at) => Array.from({ length }, (_, index) => at(index));
const exportsOf = (module) =>
  listed(module.getNumExports(), (n) => binaryen.getExportInfo(module.getExportByIndex(n)));
const functionsOf = (module) =>
  listed(module.getNumFunctions(), (n) => binaryen.getFunctionInfo(module.getFunctionByIndex(n)));
const tablesOf = (module) =>
  listed(module.getNumTables(), (n) => binaryen.getTableInfo(module.getTableByIndex(n)));
const globalsOf = (module) =>
  listed(module.getNumGlobals(), (n) => binaryen.getGlobalInfo(module.getGlobalByIndex(n)));
const segmentsOf = (module) =>
  listed(module.getNumElementSegments(), (n) =>
    binaryen.getElementSegmentInfo(module.getElementSegmentByIndex(n)),
  );

const CODE_SECTION = 10;

/** Returns the bytes of code of the functions that a module defines, in their order. */
function codeSizes(wasmBytes) {
  for (const { id, content } of sectionsOf(wasmBytes)) {
    if (id !== CODE_SECTION) continue;
    const reader = new WasmReader(wasmBytes, content);
    return listed(reader.integer(), () => {
      const bytes = reader.integer();
      reader.at += bytes;
      return bytes;
    });
  }
  return [];
}
