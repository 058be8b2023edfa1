// The matrix of toolchains: its versions, its tools, and its page.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TYPESCRIPTS, VERSIONS } from '../../examples/matrix/versions.mjs';
import { ROOT } from '../lib/run.mjs';

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const FOLDER = join(ROOT, 'examples', 'matrix', 'tools');
const TOOLS = await Promise.all(
  readdirSync(FOLDER).map(async (file) => [file, (await import(join(FOLDER, file))).default]),
);
const PAGE = read('docs/toolchains.md');

test('dependencies of the repository have the same version in the matrix', () => {
  for (const folder of JSON.parse(read('package.json')).workspaces) {
    const manifest = JSON.parse(read(join(folder, 'package.json')));
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
    for (const [name, version] of Object.entries(all)) {
      if (VERSIONS[name] !== undefined) assert.equal(VERSIONS[name], version, `${folder}: ${name}`);
    }
  }
});

test('each tool has cases, and packages of a pinned version', () => {
  for (const [file, { cases, packages = [], sample = false }] of TOOLS) {
    assert.ok(Object.keys(cases).length > 0, file);
    for (const name of packages)
      assert.match(VERSIONS[name], /^\d+\.\d+\.\d+$/, `${file}: ${name}`);
    for (const name of Array.isArray(sample) ? sample : []) assert.ok(name in cases, name);
  }
});

test('the page names the version of each tool, and each compiler', () => {
  for (const [file, { packages: [first] = [] }] of TOOLS) {
    if (first === undefined || first === 'publint' || first === 'fake-indexeddb') continue;
    const [short] = /^\d+\.\d+/.exec(VERSIONS[first]);
    assert.match(PAGE, new RegExp(`\\b${short.replace('.', '\\.')}\\b`), `${file}: ${first}`);
  }
  for (const version of TYPESCRIPTS) assert.ok(PAGE.includes(version), version);
});
