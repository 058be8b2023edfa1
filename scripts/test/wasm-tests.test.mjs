// `scripts/long/wasm-tests.mjs` counts the tests of the core that run in WebAssembly, and knows all of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { countWasm } from '../checks/counts.mjs';
import { ROOT } from '../lib/run.mjs';
import { TESTED_PACKAGES, testsIn, testsOf } from '../lib/rust-tests.mjs';

test('its last line has the total of both hosts', () => {
  const runner = 'test result: ok. 96 passed; 0 failed; 0 ignored; 0 filtered out';
  const output = `${runner}\n${runner}\nwasm: 812 passed, 1 failed, 2 skipped\n`;
  assert.deepEqual(countWasm(output), { passed: 812, failed: 1, skipped: 2 });
});

test('tests are counted in macros, too, and those for native code alone have a reason', () => {
  const text = [
    '// #[test] in a comment is none.',
    '#[test]',
    'fn one() {}',
    'proptest! {',
    '    #[test]',
    '    fn two(x in 0..9) {}',
    '}',
    '#[cfg(not(target_arch = "wasm32"))] // There are no files.',
    '#[test]',
    'fn three() {}',
    '// Nobody says why.',
    '#[cfg(not(target_arch = "wasm32"))]',
    '#[test]',
    'fn four() {}',
  ].join('\n');
  const nativeOnly = [{ name: 'three', why: 'There are no files.' }];
  assert.deepEqual(testsOf(text), { count: 4, nativeOnly });
});

test('all programs of tests of the core run', () => {
  const manifest = readFileSync(join(ROOT, 'crate', 'Cargo.toml'), 'utf8');
  const programs = [...manifest.matchAll(/^\[\[test\]\]\nname = "(.+)"$/gm)].map(
    ([, name]) => name,
  );
  const { targets } = TESTED_PACKAGES.find(({ dir }) => dir === 'crate');
  assert.deepEqual(targets, ['--lib', ...programs.flatMap((name) => ['--test', name])]);
  for (const tested of TESTED_PACKAGES) assert.ok(testsIn(tested).count > 0, tested.dir);
});
