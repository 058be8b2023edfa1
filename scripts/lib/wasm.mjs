// Builds the WebAssembly module of the core, in two parts, and the TypeScript files made from it.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT, run } from './run.mjs';

const PKG_DIR = join(ROOT, 'js', 'pkg');
const GENERATED_DIR = join(ROOT, 'js', 'src', 'core', 'generated');
/** The finished module: what a page downloads at its start. */
export const WASM_FILE = join(PKG_DIR, 'hedgerow_bg.wasm');
/** What is loaded when it is first called, see `split.mjs`. */
export const LATER_WASM_FILE = join(PKG_DIR, 'hedgerow_later.wasm');
/** Both parts in one, before wasm-opt and with the names of functions. */
export const UNSPLIT_WASM_FILE = join(PKG_DIR, 'hedgerow_unsplit.wasm');
const STAMP_FILE = join(PKG_DIR, '.inputs');

// What is not needed to open a store, and to read and write rows.
const isLater = (exportName) => /^(sum|check)_/.test(exportName);
const LATER_CODE = [
  /\bhedgerow_sums::/,
  /\bhedgerow::(proof|sum_update|wasm::(sums|checks|faults))::/,
  /\bhedgerow_trees::tree::(verify|census)::/,
];

// So much of that code may be in the first part all the same, before wasm-opt.
const STRAY_BYTES = 2_048;

// The features of `.cargo/config.toml`, and those that rustc turns on by itself.
const WASM_OPT_ARGS = [
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

// All that the outputs depend on. This file counts, too: it decides their form.
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
  'scripts/lib/wasm.mjs',
  'scripts/lib/panics.mjs',
  'scripts/lib/split.mjs',
];

/** Builds what is out of date. Returns whether there was anything to do. */
export async function buildWasm() {
  const stamp = await hashInputs(WASM_INPUTS);
  if (await isCurrent(stamp)) return false;
  // Taken away first, so that a build that stops half-way is never taken for a whole one.
  await rm(STAMP_FILE, { force: true });
  await runWasmPack();
  await splitModule();
  for (const file of [WASM_FILE, LATER_WASM_FILE]) await optimize(file);
  await generateTypeScript();
  await writeFile(STAMP_FILE, stamp);
  return true;
}

async function isCurrent(stamp) {
  const generated = ['module.ts', 'later-module.ts', 'exports.ts'];
  const outputs = [
    ...[WASM_FILE, LATER_WASM_FILE, UNSPLIT_WASM_FILE, STAMP_FILE],
    ...generated.map((name) => join(GENERATED_DIR, name)),
  ];
  return outputs.every(existsSync) && (await readFile(STAMP_FILE, 'utf8')) === stamp;
}

/** One hash of all files of `inputs`, files and folders. */
export async function hashInputs(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const file of await filesUnder(join(ROOT, input))) {
      const content = await readFile(file);
      hash.update(`${relative(ROOT, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

async function filesUnder(path) {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch((error) => {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function runWasmPack() {
  const out = ['--out-dir', join('..', 'js', 'pkg'), '--out-name', 'hedgerow', '--no-pack'];
  await run('wasm-pack', ['build', 'crate', '--target', 'web', '--release', ...out], {
    // Either would replace the flags of `.cargo/config.toml`, and with them SIMD.
    env: { RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined },
  });
}

async function splitModule() {
  // Imported late: their package is only there once `setup` has run.
  const { blankLocations, trapAtOnce } = await import('./panics.mjs');
  const { split } = await import('./split.mjs');
  const wasmBytes = blankLocations(trapAtOnce(await readFile(WASM_FILE)));
  const { first, later, kept } = split(wasmBytes, isLater);
  reportStrays(kept.filter(({ name }) => LATER_CODE.some((code) => code.test(name))));
  await writeFile(UNSPLIT_WASM_FILE, wasmBytes);
  await writeFile(WASM_FILE, first);
  await writeFile(LATER_WASM_FILE, later);
}

/** Tells which functions were to be loaded later, but are reached by what is not. */
function reportStrays(strays) {
  if (strays.length === 0) return;
  const total = strays.reduce((sum, { bytes }) => sum + bytes, 0);
  const message = [
    `${total} bytes of the later code are in the first part of the module, since an export of`,
    'that part calls them, or since they are in the table of functions (by `dyn` or `fn`):',
    ...strays.map(({ name, bytes }) => `  ${bytes} ${name}`),
  ].join('\n');
  if (total > STRAY_BYTES) throw new Error(message);
  console.warn(message);
}

async function optimize(file) {
  const optimized = `${file}.opt`;
  await run('wasm-opt', [...WASM_OPT_ARGS, file, '-o', optimized]);
  await rename(optimized, file);
}

async function generateTypeScript() {
  await mkdir(GENERATED_DIR, { recursive: true });
  await generateModule('module.ts', 'MODULE', WASM_FILE, 'The WebAssembly module');
  await generateModule(
    'later-module.ts',
    'LATER',
    LATER_WASM_FILE,
    'The part of it that is loaded later',
  );
  await generateExports();
}

const HEAD = '// Written by `npm run build`; not for editing.\n\n';

async function generateModule(fileName, constant, wasmFile, title) {
  const wasmBytes = await readFile(wasmFile);
  // Five per cent less than zlib's best; a page waits for each byte.
  const { default: zopfli } = await import('@gfx/zopfli');
  const deflatedBytes = Buffer.from(await zopfli.deflateAsync(wasmBytes, { numiterations: 15 }));
  // The type is spelled out, or the declaration file would repeat the whole string.
  await writeFile(
    join(GENERATED_DIR, fileName),
    `${HEAD}/** ${title}: raw DEFLATE, in base64. */\n` +
      `export const ${constant}_BASE64: string =\n  '${deflatedBytes.toString('base64')}';\n\n` +
      `/** Length of the module in bytes, once inflated. */\n` +
      `export const ${constant}_LENGTH: number = ${wasmBytes.length};\n`,
  );
}

async function generateExports() {
  const declarations = await readFile(join(PKG_DIR, 'hedgerow.d.ts'), 'utf8');
  const exports = /^export interface InitOutput \{\n([^}]*)\}/m.exec(declarations);
  if (exports === null) throw new Error('wasm-bindgen wrote no `InitOutput` to hedgerow.d.ts');
  const members = exports[1].split('\n').slice(0, -1);
  const memberIsLater = (member) => isLater(/^\s*readonly (\w+)/.exec(member)?.[1] ?? '');
  const declare = (name, lines) =>
    `export interface ${name} {\n${lines.map((line) => `${line}\n`).join('')}}\n`;
  // The file itself is only there once `scripts/build-react-native.mjs` has run.
  await writeFile(
    join(GENERATED_DIR, 'plain.d.ts'),
    `${HEAD}/** Starts an instance; throws \`RangeError\` when there is no memory for it. */\n` +
      'export function start(): unknown;\n',
  );
  await writeFile(
    join(GENERATED_DIR, 'exports.ts'),
    `${HEAD}/** What an instance of the module exports, as wasm-bindgen declares it. */\n` +
      declare(
        'InitOutput',
        members.filter((member) => !memberIsLater(member)),
      ) +
      '\n/** What an instance of the part for later exports. */\n' +
      declare('LaterOutput', members.filter(memberIsLater)),
  );
}
