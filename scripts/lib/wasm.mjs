// Builds the WebAssembly module of the core, in two parts, and the TypeScript files made from it.
//
// rustc makes the module; `boundary.mjs` keeps the exports that the wrapper calls, `panics.mjs` makes panics trap, and
// `generated.mjs` writes the module as text. For a release `unreached.mjs` drops the code that formats panics,
// `split.mjs` cuts the module in two, and wasm-opt makes both parts small; a build for development needs no package.

import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { keepBoundary } from './boundary.mjs';
import { compileCore } from './compile.mjs';
import { forward } from './forward.mjs';
import { GENERATED_FILES, generate } from './generated.mjs';
import { hashInputs } from './hash-inputs.mjs';
import { blankLocations, trapAtOnce } from './panics.mjs';
import { ROOT, run } from './run.mjs';

const PKG_DIR = join(ROOT, 'js', 'hedgerow', 'pkg');
/** The finished module: a page downloads it at its start. */
export const WASM_FILE = join(PKG_DIR, 'hedgerow_bg.wasm');
/** The later part, which is loaded at its first call: see `split.mjs`. */
export const LATER_WASM_FILE = join(PKG_DIR, 'hedgerow_later.wasm');
/** Both parts in one, before wasm-opt and with the names of functions. */
export const UNSPLIT_WASM_FILE = join(PKG_DIR, 'hedgerow_unsplit.wasm');
/** The inputs of the last build, and whether it was for release. */
export const STAMP_FILE = join(PKG_DIR, '.inputs');
/** The first word in the stamp of a build. */
const [RELEASE, DEVELOPMENT] = ['release', 'development'];

// The exports that are not needed to open a store, and to read and write rows.
const isLater = (exportName) => /^(sum|check|remote)_/.test(exportName);
const LATER_CODE = [
  /\bhedgerow_sums::/,
  /\bhedgerow::(sum_update|proof|delta|lazy|wasm::(sums|checks|faults|lazy|remote))::/,
  /\bhedgerow_trees::tree::(verify|census)::/,
];

// The most bytes of later code that may still be in the first part, before wasm-opt.
const STRAY_BYTES = 2_048;

// The features of `.cargo/config.toml`, and the ones that rustc enables by default.
const WASM_OPT_ARGS = [
  '--no-inline=*engine*apart*',
  '-O3',
  '--converge', // until it gets no smaller
  '--enable-simd',
  '--enable-bulk-memory',
  '--enable-sign-ext',
  '--enable-nontrapping-float-to-int',
  '--enable-mutable-globals',
  '--enable-multivalue',
  '--enable-reference-types',
  '--strip-debug',
  '--strip-producers',
  '--strip-target-features',
];

// All inputs of the outputs, including the scripts, which decide their form.
export const WASM_INPUTS = [
  'crate/src',
  'crate/sums/src',
  'crate/sums/Cargo.toml',
  'crate/trees/src',
  'crate/trees/Cargo.toml',
  'crate/Cargo.toml',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  '.cargo/config.toml',
  'package-lock.json', // the version of wasm-opt
  ...[
    'wasm',
    'boundary',
    'compile',
    'forward',
    'generated',
    'panics',
    'sections',
    'split',
    'unreached',
  ].map((name) => `scripts/lib/${name}.mjs`),
];

/** Builds outdated parts; with `dev`, see `dev-build.mjs`. Returns whether any part was out of date. */
export async function buildWasm({ dev = false } = {}) {
  const stamp = `${dev ? DEVELOPMENT : RELEASE} ${await hashInputs(WASM_INPUTS)}`;
  if (await isCurrent(stamp, GENERATED_FILES)) return false;
  // Empties it first, including the stamp, so that an interrupted build never counts as complete.
  await rm(PKG_DIR, { recursive: true, force: true });
  await mkdir(PKG_DIR, { recursive: true });
  const built = await (dev ? buildForDevelopment() : buildForRelease());
  await writeFile(WASM_FILE, built.first);
  await writeFile(LATER_WASM_FILE, built.later);
  await writeFile(UNSPLIT_WASM_FILE, built.unsplit);
  await generate({ ...built, isLater });
  await writeFile(STAMP_FILE, stamp);
  return true;
}

/** Rebuilds for development, unless the last build (of either kind) is up to date. */
export async function refreshWasm() {
  const hash = await hashInputs(WASM_INPUTS);
  for (const kind of [RELEASE, DEVELOPMENT]) {
    if (await isCurrent(`${kind} ${hash}`, GENERATED_FILES)) return false;
  }
  return buildWasm({ dev: true });
}

/** Whether the last build was for development. */
export const isDevelopmentCore = async () =>
  (await readFile(STAMP_FILE, 'utf8')).startsWith(DEVELOPMENT);

async function isCurrent(stamp, generatedFiles) {
  const outputs = [WASM_FILE, LATER_WASM_FILE, UNSPLIT_WASM_FILE, STAMP_FILE, ...generatedFiles];
  return outputs.every(existsSync) && (await readFile(STAMP_FILE, 'utf8')) === stamp;
}

/** Returns the compiled core, without data for wasm-bindgen's tool, and with panics that trap. */
async function compiled(profile) {
  const { bytes, functions } = keepBoundary(await compileCore({ profile }));
  return { whole: trapAtOnce(bytes), functions };
}

async function buildForRelease() {
  const { whole, functions } = await compiled('release');
  // Imported late: their packages exist only once `setup` has run.
  const { withoutUnreached } = await import('./unreached.mjs');
  const { split } = await import('./split.mjs');
  const unsplit = blankLocations(withoutUnreached(whole));
  const { first, later, kept } = split(unsplit, isLater);
  refuseStrays(kept.filter(({ name }) => LATER_CODE.some((code) => code.test(name))));
  const parts = await Promise.all([optimized('first', first), optimized('later', later)]);
  // Five per cent smaller than the best of zlib: a page waits for each byte.
  const { default: zopfli } = await import('@gfx/zopfli');
  const deflate = (wasmBytes) => zopfli.deflateAsync(wasmBytes, { numiterations: 15 });
  return { unsplit, functions, first: parts[0], later: parts[1], deflate };
}

async function buildForDevelopment() {
  const { whole: unsplit, functions } = await compiled('dev-module');
  const deflate = (wasmBytes) => promisify(deflateRaw)(wasmBytes, { level: 1 });
  return { unsplit, functions, ...forward(unsplit, isLater), deflate };
}

/** Refuses too many functions that were meant for the later part, but are reached by the first. */
function refuseStrays(strays) {
  const total = strays.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= STRAY_BYTES) return;
  const message = [
    `${total} bytes of the later code are in the first part of the module, since an export of`,
    'that part calls them, or since they are in the table of functions (by `dyn` or `fn`);',
    `${STRAY_BYTES} are allowed:`,
    ...strays.map(({ name, bytes }) => `  ${bytes} ${name}`),
  ];
  throw new Error(message.join('\n'));
}

/** Optimizes a part with wasm-opt. */
async function optimized(name, wasmBytes) {
  const [before, after] = ['before', 'after'].map((when) => join(PKG_DIR, `${name}-${when}.wasm`));
  await writeFile(before, wasmBytes);
  await run('wasm-opt', [...WASM_OPT_ARGS, before, '-o', after]);
  const smaller = await readFile(after);
  for (const file of [before, after]) await rm(file);
  return smaller;
}
