// The numbers of the wasm boundary are the same on both sides.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';
import { abiFiles, staleFiles } from '../write-abi.mjs';

const read = (...path) => readFileSync(join(ROOT, ...path), 'utf8');
const RUST = read('crate', 'src', 'wasm', 'abi.rs');

/** Returns `abi.rs` with one change. */
function changed(from, to) {
  assert.ok(RUST.includes(from), from);
  return RUST.replace(from, to);
}

/** Returns the constants in a written file. */
const constants = (text) =>
  new Map(
    [...text.matchAll(/const (\w+) = (\S+);/g)].map(([, name, value]) => [
      name,
      Number(value.replaceAll('_', '')),
    ]),
  );

test('TypeScript has the constants that Rust declares', () => {
  assert.deepEqual(staleFiles(abiFiles(RUST)), []);
});

test('a difference in any kind of number is found', () => {
  const stale = (from, to) => staleFiles(abiFiles(changed(from, to)));
  assert.deepEqual(stale('MISSING_CHUNK: u32 = 17', 'MISSING_CHUNK: u32 = 29'), ['status.ts']);
  assert.deepEqual(stale('LTE: u32 = 1 << 6', 'LTE: u32 = 1 << 7'), ['read-flag.ts']);
  assert.deepEqual(stale('Value { kind, address,', 'Value { address, kind,'), ['reply.ts']);
  assert.deepEqual(stale('pub mod framing {', 'pub mod framings {'), ['framing.ts', 'framings.ts']);
});

test('the words after another reply move with it', () => {
  const words = (rust) => constants(abiFiles(rust).get('reply.ts'));
  const before = words(RUST);
  const after = words(changed('Numbers { address, count, }', 'Numbers { address, count, more, }'));
  assert.equal(before.get('collectedStoredBytes'), 2);
  assert.equal(after.get('collectedStoredBytes'), 3);
  assert.equal(before.get('tallyRows'), before.get('outputKeysLength') + 1);
});

test('a line that the script does not understand is refused', () => {
  const refused = (from, to) =>
    assert.throws(() => abiFiles(changed(from, to)), /does not understand/);
  refused('ROW: u32 = 16;', 'ROW: u32 = OTHER + 16;');
  refused('pub const ROW: u32 = 16;', 'pub const ROW: u64 = 16;');
  refused('Collected after Numbers', 'Collected after Nothing');
  refused('replies! {\n    /// A view', 'answers! {\n    /// A view');
});

test('no status has the number of another one, and every reply has room', () => {
  const files = abiFiles(RUST);
  const statuses = [...constants(files.get('status.ts')).values()];
  assert.ok(statuses.length >= 19);
  assert.equal(new Set(statuses).size, statuses.length);
  const room = constants(files.get('size.ts')).get('replyWords');
  const words = [...constants(files.get('reply.ts')).values()];
  assert.ok(words.length >= 60 && Math.max(...words) < room);
});

/** Returns the limits of a file by their names; a limit may be made of others. */
function limits(text, pattern) {
  const found = new Map();
  for (const [, name, expression] of text.matchAll(pattern)) {
    const plain = expression
      .replaceAll(/(?<=\d)_(?=\d)/g, '')
      .replace(/(\w+)\.div_ceil\((\w+)\)/, 'Math.ceil($1 / $2)');
    assert.match(plain, /^[\w\s+*/<().]+$/, name);
    found.set(name, new Function(...found.keys(), `return ${plain}`)(...found.values()));
  }
  return found;
}

test('a limit is the same in both languages', () => {
  const rust = limits(
    read('crate', 'trees', 'src', 'limits.rs'),
    /^pub const (\w+): \w+ = ([^;]+);/gm,
  );
  const wrapper = limits(
    read('js', 'hedgerow', 'src', 'base', 'limits.ts'),
    /^export const (\w+) = ([^;]+);/gm,
  );
  const shared = [...wrapper.keys()].filter((name) => rust.has(name));
  assert.deepEqual(shared, [
    'MAX_KEY_BYTES',
    'MAX_VALUE_BYTES',
    'MAX_ROW_TEXT_BYTES',
    'MAX_JSON_DEPTH',
    'MAX_TREES',
    'MAX_PROOF_BYTES',
    'MAX_COLUMNS',
    'MAX_ROW_ENTRIES_BYTES',
    'ROW_ENTRIES_FACTOR',
    'FREE_ROW_ENTRIES_BYTES',
    'MAX_TREE_NAME_BYTES',
    'MAX_SUM_DEFINITION_BYTES',
    'MAX_SUM_VALUE_BYTES',
    'MAX_SEGMENT_CHUNKS',
    'MAX_PACKED_CHUNK_BYTES',
  ]);
  for (const name of shared) {
    // The wrapper's limit does not count the leading letter for the kind of the tree.
    const own = wrapper.get(name) + (name === 'MAX_TREE_NAME_BYTES' ? 1 : 0);
    assert.equal(own, rust.get(name), name);
  }
});
