// The fault numbers of the core mean the same on both sides of the boundary.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';

const read = (...path) => readFileSync(join(ROOT, ...path), 'utf8');
const RUST = read('crate', 'trees', 'src', 'error.rs');
const ROW_FAULTS = read('js', 'hedgerow', 'src', 'base', 'row-fault-texts.ts');
const CHUNK_FAULTS = read('js', 'hedgerow', 'src', 'base', 'chunk-fault-texts.ts');

/** Returns the variants of a Rust enum without values, in their order. */
function variants(name) {
  const [, body] = new RegExp(`pub enum ${name} \\{([^}]*)\\}`).exec(RUST);
  return [...body.matchAll(/^ {4}([A-Z]\w+),$/gm)].map(([, variant]) => variant);
}

const words = (variant) => variant.replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
const list = (pattern) => pattern.exec(CHUNK_FAULTS)[1];

test('each fault of a row has its text at its place', () => {
  const told = [...ROW_FAULTS.matchAll(/^ {2}['`].*['`], \/\/ (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(told, variants('RowFault'));
  assert.ok(told.length >= 12);
});

test('faults of keys are the ones that begin with the word', () => {
  const [, body] = /const KEY_FAULTS = \[([^\]]*)\]/.exec(ROW_FAULTS);
  const told = [...body.matchAll(/\/\/ (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(
    told,
    variants('RowFault').filter((name) => name.startsWith('Key')),
  );
});

test('each field has its name at its place', () => {
  assert.deepEqual(list(/const FIELDS =\s*'([^']*)'/).split(','), variants('Field').map(words));
});
