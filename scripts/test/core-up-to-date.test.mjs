// Tests of the wrapper use the last build of the core: they notice when its sources are newer.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureCore } from '../../js/hedgerow/test/support/core-up-to-date.mjs';
import { ROOT } from '../lib/run.mjs';

test('a core that cannot be built fails the run, and names the command to run', async () => {
  const build = async () => {
    throw new Error('wasm-pack build crate: spawn wasm-pack ENOENT');
  };
  await assert.rejects(
    ensureCore(build),
    /older than its sources.*npm run build.*wasm-pack ENOENT/,
  );
});

test('a core that is up to date, or was built, lets it go on', async () => {
  for (const isBuilt of [false, true]) await ensureCore(async () => isBuilt);
});

test('Vitest asks before it runs any test', () => {
  const config = readFileSync(join(ROOT, 'js', 'vitest.config.ts'), 'utf8');
  assert.match(config, /globalSetup: 'hedgerow\/test\/support\/core-up-to-date\.mjs'/);
});
