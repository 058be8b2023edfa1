// The commands of package.json must start before anything is installed: their static imports must come
// with Node or with the repository.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../lib/run.mjs';

/** Packages that `file` and the files that it imports import statically, each with the importing file. */
function packagesOf(file, seen = new Set()) {
  if (seen.has(file)) return [];
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import (?:.* from )?|export .* from |\} from )'([^']+)';$/gm,
  );
  return [...imports].flatMap(([, name]) => {
    if (name.startsWith('node:')) return [];
    return name.startsWith('.')
      ? packagesOf(join(dirname(file), name), seen)
      : [`${file}: ${name}`];
  });
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const commands = Object.values(scripts).flatMap(
  (command) => /^node (\S+)/.exec(command)?.[1] ?? [],
);

for (const command of commands) {
  test(`${command} starts where no package is installed`, () => {
    const seen = new Set();
    assert.deepEqual(packagesOf(join(ROOT, command), seen), []);
    assert.ok(seen.size > 1, 'it imports files of the repository');
  });
}
