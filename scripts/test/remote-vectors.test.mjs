import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';
import { vectorsText } from '../remote-vectors.mjs';

test('the vectors of objects of a remote are those that their script writes', () => {
  const file = join(ROOT, 'vectors', 'remote', 'objects.json');
  assert.equal(readFileSync(file, 'utf8'), vectorsText());
});
