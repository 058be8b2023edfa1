// The commands of package.json must start before any package is installed: their static imports must come with Node or
// with the repository.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importedPackages } from '../lib/imported-packages.mjs';
import { ROOT } from '../lib/run.mjs';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const commands = Object.values(scripts).flatMap(
  (command) => /^node (\S+)/.exec(command)?.[1] ?? [],
);

for (const command of new Set(commands)) {
  test(`${command} starts where no package is installed`, () => {
    const seen = new Set();
    const found = importedPackages(join(ROOT, command), { isStatic: true, seen });
    assert.deepEqual([...found], []);
    assert.ok(seen.size > 1, 'it imports files of the repository');
  });
}
