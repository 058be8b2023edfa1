// The two parts of a split module behave like the whole one, on one memory, stack and table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import binaryen from 'binaryen';
import { split } from '../lib/split.mjs';

const isLater = (name) => name.startsWith('sum_');

/** Assembles a module that declares its features, like a module of rustc. */
function assemble(text) {
  const module = binaryen.parseText(`(module ${text})`);
  const { MutableGlobals, BulkMemory, BulkMemoryOpt } = binaryen.Features;
  module.setFeatures(MutableGlobals | BulkMemory | BulkMemoryOpt);
  const features = ['mutable-globals', 'bulk-memory', 'bulk-memory-opt'].map((name) => {
    return [0x2b, name.length, ...Buffer.from(name)];
  });
  module.addCustomSection('target_features', Uint8Array.of(features.length, ...features.flat()));
  binaryen.setDebugInfo(true);
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

// A log in memory at 1024, whose length is at 1020, records each function, its argument and the stack
// pointer. Functions 1 and 2 of the table differ, so that a wrong index is noticed.
const WHOLE = assemble(`
  (type $binary (func (param i32 i32) (result i32)))
  (import "host" "tell" (func $tell (param i32)))
  (memory $memory 1)
  (data (i32.const 16) "\\07\\00\\00\\00\\0b\\00\\00\\00")
  (global $stack (mut i32) (i32.const 65536))
  (global $factor i32 (i32.const 3))
  (global $calls (mut i32) (i32.const 0))
  (table $table 4 4 funcref)
  (elem (i32.const 1) $plus $times)

  (func $note (param $what i32)
    (local $at i32)
    (local.set $at (i32.load (i32.const 1020)))
    (i32.store (i32.add (i32.const 1024) (local.get $at)) (local.get $what))
    (i32.store (i32.add (i32.const 1028) (local.get $at)) (global.get $stack))
    (i32.store (i32.const 1020) (i32.and (i32.add (local.get $at) (i32.const 8)) (i32.const 2047)))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1))))
  (func $plus (param i32 i32) (result i32)
    (call $note (i32.const 100))
    (i32.add (local.get 0) (local.get 1)))
  (func $times (param i32 i32) (result i32)
    (call $note (i32.const 101))
    (i32.mul (local.get 0) (local.get 1)))
  (func $apply (param $index i32) (param i32 i32) (result i32)
    (call_indirect $table (type $binary) (local.get 1) (local.get 2) (local.get $index)))
  (func $in_frame (param $value i32) (param $index i32) (result i32)
    (local $frame i32)
    (local $result i32)
    (global.set $stack (local.tee $frame (i32.sub (global.get $stack) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $value))
    (call $note (local.get $value))
    (local.set $result
      (call $apply (local.get $index) (i32.load (local.get $frame)) (i32.load (i32.const 16))))
    (global.set $stack (i32.add (local.get $frame) (i32.const 16)))
    (local.get $result))

  (func $only_later (param $value i32) (result i32)
    (local $frame i32)
    (global.set $stack (local.tee $frame (i32.sub (global.get $stack) (i32.const 32))))
    (i32.store (local.get $frame) (i32.mul (local.get $value) (global.get $factor)))
    (call $note (i32.const 200))
    (local.set $value (call $in_frame (i32.load (local.get $frame)) (i32.const 2)))
    (global.set $stack (i32.add (local.get $frame) (i32.const 32)))
    (i32.add (local.get $value) (global.get $calls)))

  (func (export "run") (param i32) (result i32)
    (call $in_frame (local.get 0) (i32.const 1)))
  (func (export "calls") (param i32) (result i32) (global.get $calls))
  (func (export "sum_direct") (param i32) (result i32)
    (call $tell (local.get 0))
    (call $only_later (local.get 0)))
  (func (export "sum_through_table") (param $index i32) (result i32)
    (call_indirect $table (type $binary)
      (i32.load (i32.const 20)) (call $only_later (i32.const 5)) (local.get $index)))
  (func (export "sum_passes_index") (param i32) (result i32)
    (call $apply (i32.const 2) (local.get 0) (i32.const 9)))
  (func (export "sum_fills") (param i32) (result i32)
    (memory.fill (i32.const 4096) (local.get 0) (i32.const 64))
    (i32.load (i32.const 4100)))
  (export "memory" (memory $memory))
`);

const CALLS = ['run', 'calls', 'sum_direct', 'sum_through_table', 'sum_passes_index', 'sum_fills'];

function instantiate(bytes, imports) {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports;
}

/** Optimises a part by itself, like `wasm-opt`. */
function optimized(bytes) {
  const module = binaryen.readBinary(bytes);
  binaryen.setOptimizeLevel(3);
  module.optimize();
  const smaller = module.emitBinary();
  module.dispose();
  return smaller;
}

/** Runs a thousand calls; returns their results, the calls to the host, and the memory. */
function trace(start) {
  const told = [];
  const exports = start({ host: { tell: (value) => told.push(value) } });
  const given = [];
  let seed = 1;
  for (let round = 0; round < 1_000; round++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    const call = CALLS[(seed >>> 16) % CALLS.length];
    try {
      given.push([call, exports[call]((seed >>> 8) % 5)]);
    } catch (cause) {
      // No function has the index 0, or 3 or more: such a call traps in both parts.
      assert.ok(cause instanceof WebAssembly.RuntimeError, cause);
      given.push([call, 'trap']);
    }
  }
  return { given, told, memory: Buffer.from(exports.memory.buffer).toString('base64') };
}

const describe = (bytes) => {
  const module = new WebAssembly.Module(bytes);
  return {
    imports: WebAssembly.Module.imports(module),
    exports: WebAssembly.Module.exports(module),
  };
};

for (const copiedBytes of [0, 30, undefined]) {
  for (const prepare of [(bytes) => bytes, optimized]) {
    const how = `copies up to ${copiedBytes ?? 'the usual'} bytes${prepare === optimized ? ', optimized' : ''}`;
    test(`two parts behave like the whole: ${how}`, () => {
      const parts = split(WHOLE, isLater, copiedBytes);
      const [first, later] = [prepare(parts.first), prepare(parts.later)];
      const whole = trace((imports) => instantiate(WHOLE, imports));
      const both = trace((imports) => {
        const exports = instantiate(first, imports);
        return { ...exports, ...instantiate(later, { first: exports }) };
      });
      assert.deepEqual(both, whole);
      const traps = whole.given.filter(([, result]) => result === 'trap').length;
      assert.ok(traps > 10 && traps < 200, 'some calls trap, most do not');
    });

    test(`the parts fit, and have the right contents: ${how}`, () => {
      const parts = split(WHOLE, isLater, copiedBytes);
      const first = describe(prepare(parts.first));
      const later = describe(prepare(parts.later));
      const names = (items) => items.map(({ name }) => name).sort();
      assert.deepEqual(names(later.exports), CALLS.filter(isLater).sort());
      assert.deepEqual(
        first.exports.filter(({ name }) => isLater(name)),
        [],
      );
      for (const { module, name, kind } of later.imports) {
        assert.equal(module, 'first');
        assert.equal(first.exports.find((exported) => exported.name === name)?.kind, kind, name);
      }
      const extra = first.exports.filter(({ name }) => !['run', 'calls', 'memory'].includes(name));
      assert.ok(
        extra.every(({ name }) => name.length === 1),
        'by short names',
      );
      assert.deepEqual(names(extra), names(later.imports.filter(({ kind }) => kind !== 'memory')));
    });
  }
}

test('copied functions are no longer imported', () => {
  const functions = (copiedBytes) =>
    describe(split(WHOLE, isLater, copiedBytes).later).imports.filter(
      ({ kind }) => kind === 'function',
    ).length;
  assert.equal(functions(0), 4, 'tell, note, apply and in_frame');
  assert.equal(functions(Number.POSITIVE_INFINITY), 1, 'an import cannot be copied');
});

test('the first part keeps only its reached code and the table', () => {
  const { kept } = split(WHOLE, isLater);
  const names = kept.map(({ name }) => name);
  for (const name of ['note', 'plus', 'times', 'apply', 'in_frame'])
    assert.ok(names.includes(name));
  assert.ok(!names.includes('only_later'));
  assert.ok(
    kept.every(({ bytes }) => bytes > 3 && bytes < 200),
    'with their lengths',
  );

  const unreached = assemble(`
    (memory (export "memory") 1) (table 2 2 funcref) (elem (i32.const 1) $through_table)
    (func $behind (result i32) (i32.const 1))
    (func $through_table (result i32) (call $behind))
    (func (export "sum_a") (result i32) (call_indirect (result i32) (i32.const 1)))
    (func (export "run"))`);
  const parts = split(unreached, isLater, 0);
  const inFirst = parts.kept.map(({ name }) => name);
  assert.ok(inFirst.includes('through_table') && inFirst.includes('behind'));
  const first = instantiate(optimized(parts.first), {});
  assert.equal(instantiate(optimized(parts.later), { first }).sum_a(), 1);
});

test('the later part takes a memory that has grown', () => {
  const { first, later } = split(WHOLE, isLater);
  const exports = instantiate(first, { host: { tell: () => {} } });
  exports.memory.grow(7);
  assert.equal(instantiate(later, { first: exports }).sum_fills(1), 0x01010101);
});

test('names of exports that are taken are not given again', () => {
  const taken = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 'aa', 'ab'];
  const whole = assemble(`
    (memory (export "memory") 1) (global $one (mut i32) (i32.const 5))
    ${taken.map((name) => `(func (export "${name}") (global.set $one (i32.const 6)))`).join('\n')}
    (func (export "sum_a") (result i32) (global.get $one))`);
  const parts = split(whole, isLater);
  const first = instantiate(parts.first, {});
  first.ab();
  assert.deepEqual(describe(parts.later).imports, [
    { module: 'first', name: 'ac', kind: 'global' },
  ]);
  assert.equal(instantiate(parts.later, { first }).sum_a(), 6);
});

test('without a later export the first part is the whole, and the later one is empty', () => {
  const { first, later } = split(WHOLE, () => false);
  assert.equal(first, WHOLE);
  assert.deepEqual(describe(later), { imports: [], exports: [] });
});

test('a module that cannot be split is refused', () => {
  const memory = '(memory (export "memory") 1)';
  const start = assemble(`${memory} (func $main) (start $main) (func (export "sum_a"))`);
  assert.throws(() => split(start, isLater), /start function/);
  const hidden = assemble('(memory 1) (func (export "sum_a"))');
  assert.throws(() => split(hidden, isLater), /exports no memory/);
  // The later part would need its own data.
  const passive = assemble(`${memory} (data $data "abc") (func (export "sum_a")
    (memory.init $data (i32.const 0) (i32.const 0) (i32.const 3)))`);
  assert.throws(() => split(passive, isLater), /passive data/);
});
