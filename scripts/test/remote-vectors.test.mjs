import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';
import { sealedText, vectorsText } from '../vectors/remote-vectors.mjs';

test('the script of the vectors of objects of a remote still writes the same ones', () => {
  const folder = join(ROOT, 'vectors', 'remote');
  assert.equal(readFileSync(join(folder, 'objects.json'), 'utf8'), vectorsText());
  assert.equal(readFileSync(join(folder, 'sealed.json'), 'utf8'), sealedText());
});
