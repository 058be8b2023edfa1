// `npm run build`: compiles the core to WebAssembly, then the packages, each to its `dist`. With `--dev` it takes
// seconds; that build is for tests and the debugger, not for publishing. Builds only outdated parts.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joinModules } from './lib/chunks.mjs';
import { buildDeclarations } from './lib/declarations.mjs';
import { markBuild } from './lib/dev-build.mjs';
import { buildFull } from './lib/full.mjs';
import { hashInputs } from './lib/hash-inputs.mjs';
import { buildOther, declareOther } from './lib/other-packages.mjs';
import { OTHERS, PUBLISHED } from './lib/published.mjs';
import { ROOT, runMain } from './lib/run.mjs';
import { buildWasm, isDevelopmentCore } from './lib/wasm.mjs';

/** The outputs. */
const DISTS = PUBLISHED.map((folder) => `js/${folder}/dist`);
/** The hashes of the last build's inputs and outputs. */
const STAMP_FILE = join(ROOT, '.cache', 'package-build.json');
const INPUTS = [
  ...PUBLISHED.flatMap((folder) =>
    ['src', 'package.json', 'tsconfig.json'].map((name) => `js/${folder}/${name}`),
  ),
  'js/hedgerow/pkg/.inputs',
  'js/sources.json',
  'tsconfig.base.json',
  'package-lock.json', // the versions of tsc and rolldown
  'scripts/build.mjs',
  ...[
    'other-packages',
    'chunks',
    'declarations',
    'full',
    'inspector',
    'joined',
    'published',
    'release-reach',
    'slim',
    'source',
  ].map((name) => `scripts/lib/${name}.mjs`),
];
/** The outputs of `scripts/build-react-native.mjs`. */
const REACT_NATIVE = ['js/hedgerow/src/core/generated/plain.js', `${DISTS[0]}/react-native`];

const hashOf = (paths) => hashInputs(paths, { without: REACT_NATIVE });

/** Whether the outputs match their inputs; without `types`, the declarations do not matter. */
async function isCurrent(inputs, types) {
  try {
    const stamp = JSON.parse(await readFile(STAMP_FILE, 'utf8'));
    if (stamp.inputs !== inputs || (types && !stamp.types)) return false;
    return stamp.outputs === (await hashOf(DISTS));
  } catch {
    return false; // There is no build here yet.
  }
}

async function buildJavaScript() {
  await joinModules();
  await buildFull();
  for (const folder of OTHERS) await buildOther(folder);
}

/** Writes all declarations; returns how many internal ones it has dropped. */
async function declare() {
  let dropped = await buildDeclarations();
  for (const folder of OTHERS) dropped += await declareOther(folder);
  return dropped;
}

/** Compiles the core. */
export async function buildCore({ dev = false } = {}) {
  const rebuilt = await buildWasm({ dev });
  console.log(
    `wasm        ${rebuilt ? 'built' : 'up to date'}: js/hedgerow/pkg${dev ? ', for development' : ''}`,
  );
}

/** Builds the packages over the built core; without `types`, the part that needs few packages and is enough for pages. */
export async function buildPackages({ types = true } = {}) {
  const inputs = await hashOf(INPUTS);
  if (await isCurrent(inputs, types)) return console.log('packages    up to date: js/*/dist');
  // Empties them first: a package must not contain files whose source was deleted.
  await rm(STAMP_FILE, { force: true });
  for (const dist of DISTS) {
    await rm(join(ROOT, dist), { recursive: true, force: true });
    await mkdir(join(ROOT, dist), { recursive: true });
  }
  await buildJavaScript();
  const dropped = types ? await declare() : undefined;
  await markBuild({ isDevelopment: !types || (await isDevelopmentCore()) });
  await mkdir(dirname(STAMP_FILE), { recursive: true });
  await writeFile(STAMP_FILE, JSON.stringify({ inputs, outputs: await hashOf(DISTS), types }));
  const which = types ? `${dropped} declarations that no entry leads to` : 'declarations';
  console.log(`packages    built: js/*/dist, without ${which}`);
}

/** Builds the packages; `setup` must have run. */
export async function build({ dev = false } = {}) {
  await buildCore({ dev });
  await buildPackages();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => build({ dev: process.argv.includes('--dev') }));
}
