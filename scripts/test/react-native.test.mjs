// The sources fit into the build for React Native, which takes minutes and is no part of the everyday tests.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PUBLISHED, packageDir } from '../lib/published.mjs';
import { SWAPPED } from '../lib/react-native.mjs';

const SOURCE = join(packageDir('hedgerow'), 'src');

test('no class has a static block, which the presets of Metro do not know', () => {
  const files = PUBLISHED.flatMap((folder) => {
    const src = join(packageDir(folder), 'src');
    return readdirSync(src, { recursive: true }).map((name) => join(src, name));
  }).filter((file) => file.endsWith('.ts'));
  const found = files.filter((file) => /^\s*static \{/m.test(readFileSync(file, 'utf8')));
  assert.ok(files.length > 500);
  assert.deepEqual(found, []);
});

test('the kit takes no name from a file that has a stand-in, which may lack it', () => {
  const kit = readFileSync(join(SOURCE, 'kit.ts'), 'utf8');
  const files = [...kit.matchAll(/from '\.\/([^']+)\.js'/g)].map(([, path]) =>
    join(SOURCE, `${path}.ts`),
  );
  assert.ok(files.length > 20);
  assert.deepEqual(
    files.filter((file) => SWAPPED.has(file)),
    [],
  );
});
