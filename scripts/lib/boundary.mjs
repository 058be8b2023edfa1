// Keeps the boundary of the core: functions that take and return numbers, and a memory. So the module of rustc does not
// need wasm-bindgen's tool: this only removes the tool's input.

import { contentOf, editSections, integer, list, SECTIONS, text, WasmReader } from './sections.mjs';

/** The kinds of imports and exports. */
export const [FUNCTION, MEMORY, GLOBAL] = [0, 2, 3];

/** A body without locals that only traps. */
export const TRAP = Uint8Array.of(0x00, 0x00, 0x0b);

/** The custom section of the macro `#[wasm_bindgen]`. */
const DESCRIPTIONS = '__wasm_bindgen_unstable';
/** Functions that only that tool's own exports call; they are dropped. */
const OF_THE_TOOL =
  /^__wbindgen_placeholder__\.__wbindgen_describe$|^__wbindgen_externref_xform__\./;

// The macro ends names with a hash; `#[unsafe(no_mangle)]` would not.
const plainName = (name) => name.replace(/_[0-9a-f]{16}$/, '');

/** Reads the types of functions: their parameters and results. */
export function typesOf(wasmBytes) {
  const reader = new WasmReader(contentOf(wasmBytes, SECTIONS.types));
  return reader.list(() => {
    if (reader.byte() !== 0x60) throw new Error('the module has a type that is no function');
    return { params: [...reader.block()], results: [...reader.block()] };
  });
}

/** Reads the number of each function's type. Before the boundary is kept, imports come first. */
export function functionTypesOf(wasmBytes) {
  const reader = new WasmReader(contentOf(wasmBytes, SECTIONS.functions));
  return reader.list(() => reader.integer());
}

/** Reads the exports: name, kind and number. */
export function exportsOf(wasmBytes) {
  const reader = new WasmReader(contentOf(wasmBytes, SECTIONS.exports));
  return reader.list(() => ({ name: reader.text(), kind: reader.byte(), index: reader.integer() }));
}

/** Makes the content of a section of exports. */
export const exportSection = (exports) =>
  list(
    exports.map(({ name, kind, index }) =>
      Buffer.concat([text(name), Uint8Array.of(kind), integer(index)]),
    ),
  );

/**
 * Removes all exports outside the boundary, and gives the others their plain names. Returns the module, and the name,
 * parameters and results of each exported function.
 */
export function keepBoundary(wasmBytes) {
  const whole = withoutImports(withoutDescriptions(wasmBytes));
  const types = typesOf(whole);
  const functionTypes = functionTypesOf(whole);
  const kept = exportsOf(whole)
    .filter(({ name, kind }) => kind === MEMORY || (kind === FUNCTION && !name.startsWith('__')))
    .map((one) => ({ ...one, name: plainName(one.name) }));
  const functions = kept
    .filter(({ kind }) => kind === FUNCTION)
    .map(({ name, index }) => {
      const { params, results } = types[functionTypes[index]];
      return { name, params: params.map(nameOfType), results: results.map(nameOfType) };
    });
  return {
    bytes: editSections(whole, { [SECTIONS.exports]: () => exportSection(kept) }),
    functions: functions.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function withoutDescriptions(wasmBytes) {
  return editSections(wasmBytes, {
    [SECTIONS.custom]: (content) =>
      new WasmReader(content).text() === DESCRIPTIONS ? undefined : content,
  });
}

/**
 * Replaces imported functions with own ones, which trap: the wrapper provides no imports. As imports have the first
 * numbers of all functions, no other number changes.
 */
function withoutImports(wasmBytes) {
  const reader = new WasmReader(contentOf(wasmBytes, SECTIONS.imports));
  if (reader.bytes.length === 0) return wasmBytes;
  const imported = reader.list(() => {
    const name = `${reader.text()}.${reader.text()}`;
    const kind = reader.byte();
    if (kind !== FUNCTION || !OF_THE_TOOL.test(name))
      throw new Error(`the module imports ${name}: only numbers cross its boundary`);
    return integer(reader.integer());
  });
  const before = (items) => (content) => {
    const others = new WasmReader(content);
    const count = others.integer();
    return Buffer.concat([integer(items.length + count), ...items, others.rest()]);
  };
  return editSections(wasmBytes, {
    [SECTIONS.imports]: () => undefined,
    [SECTIONS.functions]: before(imported),
    [SECTIONS.code]: before(imported.map(() => Buffer.concat([integer(TRAP.length), TRAP]))),
  });
}

const NAMES_OF_TYPES = new Map([
  [0x7f, 'number'], // i32
  [0x7d, 'number'], // f32
  [0x7c, 'number'], // f64
  [0x7e, 'bigint'], // i64
]);

function nameOfType(type) {
  const known = NAMES_OF_TYPES.get(type);
  if (known === undefined) throw new Error('only numbers cross the boundary of the module');
  return known;
}

/** Writes the function's type in TypeScript. */
export function signatureOf({ params, results }) {
  const letters = params.map((type, index) => `${String.fromCharCode(97 + index)}: ${type}`);
  return `(${letters.join(', ')}) => ${results[0] ?? 'void'}`;
}
