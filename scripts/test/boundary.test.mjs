// How the scripts change the module of rustc.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import binaryen from 'binaryen';
import { keepBoundary, signatureOf } from '../lib/boundary.mjs';
import { forward } from '../lib/forward.mjs';
import { sectionsOf } from '../lib/sections.mjs';

const HASH = '0123456789abcdef';
const SECTION = '__wasm_bindgen_unstable';

/** A module as the macro of wasm-bindgen leaves it. */
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

test('of a module its exports are kept, under their plain names, and nothing is imported', () => {
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

test('a module that would import something is refused', () => {
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

test('for development the later part hands on what the first has', () => {
  const isLater = (name) => name.startsWith('sum_');
  const { first, later } = forward(keepBoundary(WHOLE).bytes, isLater);
  const core = new WebAssembly.Instance(new WebAssembly.Module(first)).exports;
  assert.equal(core.sum_add, undefined);
  assert.equal(core.twice(3n), 6n);
  const part = new WebAssembly.Instance(new WebAssembly.Module(later), { first: core }).exports;
  assert.deepEqual(Object.keys(part), ['sum_add']);
  assert.equal(part.sum_add(1, 1), 2);
});
