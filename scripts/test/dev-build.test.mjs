// Builds for development are refused where a release is needed, and never published.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDevBuild, markBuild, refuseDevBuild } from '../lib/dev-build.mjs';
import { contentFaults } from '../lib/release-contents.mjs';
import { ROOT } from '../lib/run.mjs';

test('a package with the mark is refused, one without it is not', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'hedgerow-dev-build-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  refuseDevBuild(root); // No build exists.
  const folder = join(root, 'js', 'hedgerow', 'dist');
  mkdirSync(folder, { recursive: true });
  await markBuild({ isDevelopment: true, root });
  assert.ok(isDevBuild(root));
  assert.throws(() => refuseDevBuild(root), /built for development/);
  await markBuild({ isDevelopment: false, root });
  assert.deepEqual(readdirSync(folder), []);
  refuseDevBuild(root);
});

test('a package may not have the file of the mark', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-dev-build-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'js', 'hedgerow', 'dist'), { recursive: true });
  writeFileSync(
    join(dir, 'js', 'hedgerow', 'package.json'),
    JSON.stringify({ name: 'a', exports: {} }),
  );
  await markBuild({ isDevelopment: true, root: dir });
  const { faults } = await contentFaults(join(dir, 'js', 'hedgerow'), {
    packedBytes: 0,
    compared: [],
  });
  assert.ok(faults.includes('dist/DEVELOPMENT is not meant to be published'), String(faults));
});

test('the published package is built for release', () => {
  const { scripts } = JSON.parse(
    readFileSync(join(ROOT, 'js', 'hedgerow', 'package.json'), 'utf8'),
  );
  assert.match(scripts.prepack, /^node (\.\.\/){2}scripts\/build\.mjs &&/);
});

const MEASURING = [
  'scripts/check-size.mjs',
  'scripts/studies/bench-node.mjs',
  'scripts/studies/compare.mjs',
  'scripts/studies/figures-hermes.mjs',
  'scripts/studies/measure-verify.mjs',
  'e2e/bench/lib/browser.mjs',
];

for (const file of MEASURING) {
  test(`${file} refuses a build for development`, () => {
    assert.match(readFileSync(join(ROOT, file), 'utf8'), /^ *refuseDevBuild\((dir)?\);$/m);
  });
}
