// The sources use only syntax that Metro knows, which bundles them for React Native.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';

test('no class has a static block, which the presets of Metro do not know', () => {
  const sources = readdirSync(join(ROOT, 'js', 'hedgerow', 'src'), { recursive: true });
  const found = sources
    .filter((name) => name.endsWith('.ts'))
    .filter((name) =>
      /^\s*static \{/m.test(readFileSync(join(ROOT, 'js', 'hedgerow', 'src', name), 'utf8')),
    );
  assert.deepEqual(found, []);
});
