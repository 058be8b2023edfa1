// `npm run build`: compiles the core to WebAssembly, then the wrapper to `js/hedgerow/dist`. With `--dev` it takes seconds; that
// build is for tests and the debugger, not for publishing. Builds only outdated parts.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joinModules } from './lib/chunks.mjs';
import { buildDeclarations } from './lib/declarations.mjs';
import { markBuild } from './lib/dev-build.mjs';
import { buildFull } from './lib/full.mjs';
import { hashInputs } from './lib/hash-inputs.mjs';
import { buildInspector } from './lib/inspector.mjs';
import { ROOT, runMain } from './lib/run.mjs';
import { buildWasm, isDevelopmentCore } from './lib/wasm.mjs';

const DIST = 'js/hedgerow/dist';
/** The hashes of the last build's inputs and outputs. */
const STAMP_FILE = join(ROOT, '.cache', 'package-build.json');
const INPUTS = [
  'js/hedgerow/src',
  'js/hedgerow/pkg/.inputs',
  'js/hedgerow/package.json',
  'js/hedgerow/tsconfig.json',
  'tsconfig.base.json',
  'package-lock.json', // the versions of tsc and rolldown
  'scripts/build.mjs',
  ...['chunks', 'declarations', 'full', 'inspector', 'release-reach', 'slim'].map(
    (name) => `scripts/lib/${name}.mjs`,
  ),
];
/** The outputs of `scripts/build-react-native.mjs`. */
const REACT_NATIVE = ['js/hedgerow/src/core/generated/plain.js', `${DIST}/react-native`];

const hashOf = (paths) => hashInputs(paths, { without: REACT_NATIVE });

/** Whether `js/hedgerow/dist` matches its inputs; without `types`, its declarations do not matter. */
async function isCurrent(inputs, types) {
  try {
    const stamp = JSON.parse(await readFile(STAMP_FILE, 'utf8'));
    if (stamp.inputs !== inputs || (types && !stamp.types)) return false;
    return stamp.outputs === (await hashOf([DIST]));
  } catch {
    return false; // There is no build here yet.
  }
}

async function buildJavaScript() {
  await joinModules();
  await buildFull();
  await buildInspector();
}

/** Compiles the core. */
export async function buildCore({ dev = false } = {}) {
  const rebuilt = await buildWasm({ dev });
  console.log(
    `wasm        ${rebuilt ? 'built' : 'up to date'}: js/hedgerow/pkg${dev ? ', for development' : ''}`,
  );
}

/** Builds `js/hedgerow/dist` over the built core; without `types`, the part that needs few packages and is enough for pages. */
export async function buildPackage({ types = true } = {}) {
  const inputs = await hashOf(INPUTS);
  if (await isCurrent(inputs, types)) return console.log(`package     up to date: ${DIST}`);
  // Empties it first: the package must not contain files whose source was deleted.
  for (const path of [STAMP_FILE, join(ROOT, DIST)])
    await rm(path, { recursive: true, force: true });
  await mkdir(join(ROOT, DIST), { recursive: true });
  await buildJavaScript();
  const dropped = types ? await buildDeclarations() : undefined;
  await markBuild({ isDevelopment: !types || (await isDevelopmentCore()) });
  await mkdir(dirname(STAMP_FILE), { recursive: true });
  await writeFile(STAMP_FILE, JSON.stringify({ inputs, outputs: await hashOf([DIST]), types }));
  const which = types ? `${dropped} declarations that no entry leads to` : 'declarations';
  console.log(`package     built: ${DIST}, without ${which}`);
}

/** Builds the package `hedgerow`; `setup` must have run. */
export async function build({ dev = false } = {}) {
  await buildCore({ dev });
  await buildPackage();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => build({ dev: process.argv.includes('--dev') }));
}
