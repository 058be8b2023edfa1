// Builds the WebAssembly module of the core, and the TypeScript files made from it.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT, run } from './run.mjs';

const PKG_DIR = join(ROOT, 'js', 'pkg');
const GENERATED_DIR = join(ROOT, 'js', 'src', 'generated');
/** The finished module. */
export const WASM_FILE = join(PKG_DIR, 'hedgerow_bg.wasm');
const STAMP_FILE = join(PKG_DIR, '.inputs');

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
];

/** Builds what is out of date. Returns whether there was anything to do. */
export async function buildWasm() {
  const stamp = await hashInputs(WASM_INPUTS);
  if (await isCurrent(stamp)) return false;
  // Taken away first, so that a build that stops half-way is never taken for a whole one.
  await rm(STAMP_FILE, { force: true });
  await runWasmPack();
  await optimize();
  await generateTypeScript();
  await writeFile(STAMP_FILE, stamp);
  return true;
}

async function isCurrent(stamp) {
  const outputs = [WASM_FILE, STAMP_FILE, join(GENERATED_DIR, 'module.ts')];
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

async function optimize() {
  // Imported late: its package is only there once `setup` has run.
  const { trapAtOnce } = await import('./panics.mjs');
  const optimized = `${WASM_FILE}.opt`;
  await writeFile(WASM_FILE, trapAtOnce(await readFile(WASM_FILE)));
  await run('wasm-opt', [...WASM_OPT_ARGS, WASM_FILE, '-o', optimized]);
  await rename(optimized, WASM_FILE);
}

async function generateTypeScript() {
  const wasmBytes = await readFile(WASM_FILE);
  // Five per cent less than zlib's best; a page waits for each byte.
  const { default: zopfli } = await import('@gfx/zopfli');
  const deflatedBytes = Buffer.from(await zopfli.deflateAsync(wasmBytes, { numiterations: 15 }));
  const declarations = await readFile(join(PKG_DIR, 'hedgerow.d.ts'), 'utf8');
  const exports = /^export interface InitOutput \{[^}]*\}/m.exec(declarations);
  if (exports === null) throw new Error('wasm-bindgen wrote no `InitOutput` to hedgerow.d.ts');

  const head = '// Written by `npm run build`; not for editing.\n\n';
  await mkdir(GENERATED_DIR, { recursive: true });
  // The type is spelled out, or the declaration file would repeat the whole string.
  await writeFile(
    join(GENERATED_DIR, 'module.ts'),
    `${head}/** The WebAssembly module: raw DEFLATE, in base64. */\n` +
      `export const MODULE_BASE64: string =\n  '${deflatedBytes.toString('base64')}';\n\n` +
      `/** Length of the module in bytes, once inflated. */\n` +
      `export const MODULE_LENGTH: number = ${wasmBytes.length};\n`,
  );
  // The file itself is only there once `scripts/build-react-native.mjs` has run.
  await writeFile(
    join(GENERATED_DIR, 'plain.d.ts'),
    `${head}/** Starts an instance; throws \`RangeError\` when there is no memory for it. */\n` +
      'export function start(): unknown;\n',
  );
  await writeFile(
    join(GENERATED_DIR, 'exports.ts'),
    `${head}/** What an instance of the module exports, as wasm-bindgen declares it. */\n` +
      `${exports[0]}\n`,
  );
}
