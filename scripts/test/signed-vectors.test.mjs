import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';
import { signedText } from '../vectors/signed-vectors.mjs';

test('the script of the vectors of signed heads still writes the same ones', () => {
  assert.equal(readFileSync(join(ROOT, 'vectors', 'remote', 'signed.json'), 'utf8'), signedText());
});
