// The scripts' changes to the module of rustc.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import binaryen from 'binaryen';
import { keepBoundary, signatureOf } from '../lib/boundary.mjs';
import { forward } from '../lib/forward.mjs';
import { trapAtOnce } from '../lib/panics.mjs';
import { block, integer, list, moduleOf, sectionsOf, text, WasmReader } from '../lib/sections.mjs';

const HASH = '0123456789abcdef';
const SECTION = '__wasm_bindgen_unstable';

/** Assembles a module as the macro of wasm-bindgen leaves it. */
function assemble(body) {
  // Imports come first.
  const memory = '(memory $memory 1) (export "memory" (memory $memory))';
  const module = binaryen.parseText(`(module ${body} ${memory})`);
  module.addCustomSection(SECTION, Uint8Array.of(1, 2, 3));
  binaryen.setDebugInfo(true);
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const WHOLE = assemble(`
  (import "__wbindgen_placeholder__" "__wbindgen_describe" (func $describe (param i32)))
  (global $end i32 (i32.const 1024))
  (func $sum_add (param i32 f64) (result f64) (f64.add (f64.convert_i32_s (local.get 0)) (local.get 1)))
  (func $twice (param i64) (result i64) (i64.mul (local.get 0) (i64.const 2)))
  (func $rest)
  (func $describe_add (call $describe (i32.const 1)))
  (export "sum_add_${HASH}" (func $sum_add))
  (export "twice" (func $twice))
  (export "__wbindgen_describe_sum_add_${HASH}" (func $describe_add))
  (export "__wbindgen_malloc" (func $rest))
  (export "__data_end" (global $end))`);

test('a module keeps its exports, under their plain names, and imports no function', () => {
  const { bytes, functions } = keepBoundary(WHOLE);
  const module = new WebAssembly.Module(bytes);
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  assert.deepEqual(names.sort(), ['memory', 'sum_add', 'twice']);
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  assert.equal(WebAssembly.Module.customSections(module, SECTION).length, 0);
  assert.equal(WebAssembly.Module.customSections(new WebAssembly.Module(WHOLE), SECTION).length, 1);
  const { exports } = new WebAssembly.Instance(module);
  assert.equal(exports.sum_add(2, 0.5), 2.5);
  assert.equal(exports.twice(4n), 8n);
  const types = functions.map((one) => `${one.name}: ${signatureOf(one)}`);
  assert.deepEqual(types, [
    'sum_add: (a: number, b: number) => number',
    'twice: (a: bigint) => bigint',
  ]);
});

test('a module with an import is refused', () => {
  const needy = assemble(`
    (import "host" "tell" (func $tell))
    (export "call" (func $call))
    (func $call (call $tell))`);
  assert.throws(() => keepBoundary(needy), /imports host\.tell/);
});

test('sections are found from the first to the last byte', () => {
  const all = [...sectionsOf(WHOLE)];
  assert.equal(all[0].start, 8);
  for (const [at, { end }] of all.entries()) assert.equal(all[at + 1]?.start ?? WHOLE.length, end);
});

test("for development the later part forwards the first part's exports", () => {
  const isLater = (name) => name.startsWith('sum_');
  const { first, later } = forward(keepBoundary(WHOLE).bytes, isLater);
  const core = new WebAssembly.Instance(new WebAssembly.Module(first)).exports;
  assert.equal(core.sum_add, undefined);
  assert.equal(core.twice(3n), 6n);
  const part = new WebAssembly.Instance(new WebAssembly.Module(later), { first: core }).exports;
  assert.deepEqual(Object.keys(part), ['sum_add']);
  assert.equal(part.sum_add(1, 1), 2);
});

test('functions that only panic trap at once, and say whether memory was lacking', () => {
  const { bytes } = keepBoundary(
    assemble(`
      (import "__wbindgen_placeholder__" "__wbindgen_describe" (func $describe (param i32)))
      (global $stack (mut i32) (i32.const 7))
      (func $bounds (param i32) (i32.store (i32.const 0) (local.get 0)))
      (func $full (i32.store (i32.const 4) (i32.const 1)))
      (func $stack_at (result i32) (global.get $stack))
      (export "check" (func $bounds))
      (export "grow" (func $full))
      (export "stack" (func $stack_at))`),
  );
  const named = withNames(bytes, ['describe', ...PANICS, 'stack_at']);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(trapAtOnce(named)));
  const words = new Int32Array(exports.memory.buffer);
  assert.equal(exports.out_of_memory.value, 0);
  assert.throws(() => exports.check(3), WebAssembly.RuntimeError);
  assert.deepEqual([words[0], exports.out_of_memory.value], [0, 0]);
  assert.throws(() => exports.grow(), WebAssembly.RuntimeError);
  assert.deepEqual([words[1], exports.out_of_memory.value], [0, 1]);
  assert.equal(exports.stack(), 7);
  assert.throws(() => trapAtOnce(withNames(bytes, ['a', 'b', 'c', 'd'])), /panic_bounds_check/);
  assert.throws(() => trapAtOnce(withNames(bytes)), /no names of functions/);
});

/** As the linker writes them. */
const PANICS = [
  'core[0123456789abcdef]::panicking::panic_bounds_check',
  'alloc[00]::alloc::handle_alloc_error',
];

/** Adds these names of functions, in their order, to a module; without names of any kind by default. */
function withNames(bytes, names = []) {
  const entries = names.map((name, at) => Buffer.concat([integer(at), text(name)]));
  const functions = Buffer.concat([Uint8Array.of(1), block(list(entries))]);
  const section = names.length > 0 ? [[0, Buffer.concat([text('name'), functions])]] : [];
  const others = [...sectionsOf(bytes)].filter(({ id }) => id !== 0);
  return moduleOf([
    ...others.map(({ id, content, end }) => [id, bytes.subarray(content, end)]),
    ...section,
  ]);
}

test('numbers are read as they are written', () => {
  for (const number of [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1])
    assert.equal(new WasmReader(integer(number)).integer(), number);
  assert.deepEqual([...integer(300)], [0xac, 0x02]);
});
