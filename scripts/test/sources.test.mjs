// Tests and types read the packages by their names from the sources: `js/sources.json` has each entry that a package
// imports, and the right file.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importedEntries, OTHERS, packageDir } from '../lib/published.mjs';
import { ROOT } from '../lib/run.mjs';

const { paths } = JSON.parse(
  readFileSync(join(ROOT, 'js', 'sources.json'), 'utf8'),
).compilerOptions;
const OURS = /from '((?:@hedgerow\/|hedgerow)[^']*)'/g;

/** The sources of all packages but the store, as one text. */
const TEXT = OTHERS.flatMap((folder) => {
  const src = join(packageDir(folder), 'src');
  const files = readdirSync(src, { recursive: true }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(src, file), 'utf8'));
}).join('\n');

test('each entry that a package imports leads to its source, and no other is listed', () => {
  const imported = new Set([...TEXT.matchAll(OURS)].map(([, name]) => name));
  const wanted = importedEntries()
    .filter(({ name }) => imported.has(name))
    .map(({ name, folder, types }) => [
      name,
      [types.replace('./dist/', `./${folder}/src/`).replace(/\.d\.ts$/, '.ts')],
    ]);
  assert.ok(wanted.length > 3);
  assert.deepEqual(paths, Object.fromEntries(wanted));
});

/** Types that the compiler writes into the declarations of the packages. */
const IN_DECLARATIONS = ['MandatoryCheck', 'OptionCheck'];

test('each name of the kit is imported by a package', () => {
  const kit = readFileSync(join(packageDir('hedgerow'), 'src', 'kit.ts'), 'utf8');
  const names = [...kit.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list
      .split(',')
      .map((name) => name.replace('type ', '').trim())
      .filter(Boolean),
  );
  const imports = [...TEXT.matchAll(/import (?:type )?\{([^}]*)\} from 'hedgerow\/kit'/g)]
    .map(([, list]) => list)
    .join(',');
  const idle = names
    .filter((name) => !IN_DECLARATIONS.includes(name))
    .filter((name) => !new RegExp(`\\b${name}\\b`).test(imports));
  assert.deepEqual(idle, []);
});
