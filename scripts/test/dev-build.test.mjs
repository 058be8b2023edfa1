// Builds for development are refused where a release is needed, and never published.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEV_MARK, refuseDevBuild } from '../lib/dev-build.mjs';
import { ROOT } from '../lib/run.mjs';

test('a package with the mark is refused, one without it is not', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'hedgerow-dev-build-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  refuseDevBuild(root); // No build exists.
  const folder = join(root, 'js', 'dist', 'core', 'generated');
  mkdirSync(folder, { recursive: true });
  const text = "export const MODULE_BASE64 = '';\n";
  writeFileSync(join(folder, 'module.js'), text);
  refuseDevBuild(root);
  writeFileSync(join(folder, 'module.js'), text + DEV_MARK);
  assert.throws(() => refuseDevBuild(root), /built for development/);
});

test('what is published is built for release', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'js', 'package.json'), 'utf8'));
  assert.match(scripts.prepack, /^node \.\.\/scripts\/build\.mjs &&/);
});

const MEASURING = [
  'scripts/check-size.mjs',
  'scripts/bench-node.mjs',
  'scripts/compare.mjs',
  'scripts/figures-hermes.mjs',
  'scripts/measure-verify.mjs',
  'e2e/bench/lib/browser.mjs',
];

for (const file of MEASURING) {
  test(`${file} refuses a build for development`, () => {
    assert.match(readFileSync(join(ROOT, file), 'utf8'), /^ *refuseDevBuild\((dir)?\);$/m);
  });
}
