// The list of required and allowed files of the tarball finds each kind of fault.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { addToPackage } from '../lib/pack.mjs';
import { contentFaults, MAX_BYTES } from '../lib/release-contents.mjs';
import { dropStrayDeclarations, packageOf, reach } from '../lib/release-reach.mjs';
import { ROOT } from '../lib/run.mjs';

const DIR = mkdtempSync(join(tmpdir(), 'hedgerow-contents-'));
after(() => rmSync(DIR, { recursive: true, force: true }));

const MANIFEST = {
  name: 'hedgerow',
  version: '1.0.0',
  description: 'a small one',
  license: 'MIT',
  type: 'module',
  files: ['dist'],
  engines: { node: '>=20' },
  main: './dist/index.js',
  bin: { hedgerow: './dist/cli.js' },
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './more': { types: './dist/more/index.d.ts', default: './dist/more/index.js' },
    './package.json': './package.json',
  },
  dependencies: { '@noble/hashes': '1.0.0' },
  peerDependencies: { vue: '3' },
};
const FILES = {
  'README.md': '# Hedgerow\n',
  'dist/index.js':
    "import { a } from './a.js';\nexport const later = () => import('./later.js');\nexport { a };\n",
  'dist/a.js':
    "import 'node:fs';\nimport '@noble/hashes/sha2.js';\nnew URL('./core.wasm', import.meta.url);\n",
  'dist/core.wasm': '\0asm',
  'dist/later.js': '// `import("./comment.js")` is none\nexport {};\n',
  'dist/index.d.ts': "export type { T } from './types.js';\n",
  'dist/types.d.ts': "export type T = import('./deep.js').T;\n",
  'dist/deep.d.ts': 'export type T = 1;\n',
  'dist/cli.js': "#!/usr/bin/env node\nimport './a.js';\n",
  'dist/more/index.js': "import { a } from '../a.js';\nimport 'vue';\n",
  'dist/more/index.d.ts': 'export {};\n',
};

/** Makes a package of these files, with some of them replaced; `undefined` leaves one out. */
async function packed(changes = {}, manifest = MANIFEST) {
  rmSync(DIR, { recursive: true, force: true });
  const put = (name, text) => {
    mkdirSync(dirname(join(DIR, name)), { recursive: true });
    writeFileSync(join(DIR, name), text);
  };
  put('package.json', JSON.stringify(manifest));
  await addToPackage(DIR);
  for (const [name, text] of Object.entries({ ...FILES, ...changes })) {
    if (text === undefined) rmSync(join(DIR, name), { force: true });
    else put(name, text);
  }
  return DIR;
}

async function faults(changes, manifest, packedBytes = 1000) {
  const found = await contentFaults(await packed(changes, manifest), { packedBytes });
  return found.faults;
}

test('a correct package has no fault, and is counted', async () => {
  const found = await contentFaults(await packed(), { packedBytes: 1000 });
  assert.deepEqual(found.faults, []);
  assert.ok(found.files > Object.keys(FILES).length && found.unpackedBytes > 1000);
});

test('missing and unexpected files are named', async () => {
  const cases = [
    [{ 'README.md': undefined }, 'README.md is missing'],
    [{ 'LICENSE-MIT': undefined }, 'LICENSE-MIT is missing'],
    [{ 'CHANGELOG.md': undefined }, 'CHANGELOG.md is missing'],
    [{ 'more/package.json': undefined }, 'more/package.json is missing'],
    [{ 'errors/closed.md': undefined }, 'errors/closed.md is missing'],
    [{ 'dist/core.wasm': undefined }, 'dist/core.wasm is missing: dist/a.js names it'],
    [{ 'dist/later.js': undefined }, 'dist/later.js is missing: dist/index.js names it'],
    [{ 'dist/deep.d.ts': undefined }, 'dist/deep.d.ts is missing: dist/types.d.ts names it'],
    [{ 'dist/cli.js': undefined }, 'dist/cli.js is missing: bin hedgerow names it'],
    [{ 'dist/old.d.ts': '' }, 'dist/old.d.ts is in vain: no entry leads to it'],
    [{ 'dist/index.ts': '' }, 'dist/index.ts is not meant to be published'],
    [{ 'dist/index.js.map': '' }, 'dist/index.js.map is not meant to be published'],
    [{ 'src/index.js': '' }, 'src/index.js is not meant to be published'],
    [{ 'dist/.env': '' }, 'dist/.env is not meant to be published'],
  ];
  for (const [changes, expected] of cases) assert.deepEqual(await faults(changes), [expected]);
});

test('tests are not published, even if an entry leads to them', async () => {
  const index = `${FILES['dist/index.js']}import './test/a.js';\nimport './b.test.js';\n`;
  const changes = { 'dist/index.js': index, 'dist/test/a.js': '', 'dist/b.test.js': '' };
  assert.deepEqual(await faults(changes), [
    'dist/b.test.js is not meant to be published',
    'dist/test/a.js is not meant to be published',
  ]);
});

test('a build for development is not published', async () => {
  const fault = 'dist/DEVELOPMENT is not meant to be published';
  assert.deepEqual(await faults({ 'dist/DEVELOPMENT': 'a mark' }), [fault]);
});

test('the contents of files are checked', async () => {
  const cases = [
    ["import 'zod';\n", 'dist/later.js imports zod, which package.json does not depend on'],
    [
      '//# sourceMappingURL=later.js.map\n',
      'dist/later.js names a map that is not there: later.js.map',
    ],
    [`const at = '${ROOT}/js';\n`, 'dist/later.js names the folder that it was built in'],
  ];
  for (const [text, expected] of cases)
    assert.deepEqual(await faults({ 'dist/later.js': text }), [expected]);
  const others = [
    [{ 'LICENSE-MIT': 'free' }, 'LICENSE-MIT is not that of the repository'],
    [{ 'errors/closed.md': '' }, 'errors/closed.md is not that of the repository'],
    [{ 'more/package.json': '{}' }, 'more/package.json does not point to what exports names'],
    [{ 'dist/cli.js': '' }, 'dist/cli.js does not begin as a program'],
  ];
  for (const [changes, expected] of others) assert.deepEqual(await faults(changes), [expected]);
});

test('the manifest must be complete, and not private', async () => {
  assert.deepEqual(await faults({}, { ...MANIFEST, license: undefined, private: true }), [
    'package.json has no license',
    'package.json is private',
  ]);
});

test('a package that is too large is refused', async () => {
  const page = readFileSync(join(ROOT, 'docs', 'releases.md'), 'utf8').replace(/\s+/g, ' ');
  const { packed: most, unpacked: mostUnpacked } = MAX_BYTES.hedgerow;
  for (const bytes of [most, mostUnpacked])
    assert.ok(page.includes(`more than ${bytes.toLocaleString('en')}`));
  const [packedFault] = await faults({}, MANIFEST, most + 1);
  assert.match(packedFault, /^the tarball has [\d,]+ bytes, and may have [\d,]+$/);
  assert.deepEqual(await faults({}, MANIFEST, most), []);
  const [fault] = await faults({ 'dist/core.wasm': Buffer.alloc(mostUnpacked) });
  assert.match(fault, /^the unpacked package has/);
});

test('a build drops the declarations that no entry leads to, and no others', async () => {
  const dir = await packed({ 'dist/old/a.d.ts': '', 'dist/old.js': '' });
  assert.equal(await dropStrayDeclarations(dir), 1);
  const { reached } = await reach(dir, MANIFEST);
  assert.ok(reached.has('dist/deep.d.ts'));
  assert.deepEqual((await contentFaults(dir, { packedBytes: 0 })).faults, [
    'dist/old.js is in vain: no entry leads to it',
  ]);
});

test('a module belongs to a package', () => {
  assert.equal(packageOf('@a/b/c.js'), '@a/b');
  assert.equal(packageOf('vue/jsx'), 'vue');
});
