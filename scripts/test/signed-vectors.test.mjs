import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';
import { signedText } from '../signed-vectors.mjs';

test('the vectors of heads that are signed are those that their script writes', () => {
  assert.equal(readFileSync(join(ROOT, 'vectors', 'remote', 'signed.json'), 'utf8'), signedText());
});
