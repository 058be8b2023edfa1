// Builds the core as plain JavaScript, for engines without WebAssembly: the same Rust without SIMD, turned by
// Binaryen's wasm2js.

import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keepBoundary } from './boundary.mjs';
import { compileCore } from './compile.mjs';
import { hashInputs } from './hash-inputs.mjs';
import { trapAtOnce } from './panics.mjs';
import { ROOT, run } from './run.mjs';
import { WASM_INPUTS } from './wasm.mjs';

const TARGET_DIR = join(ROOT, 'target', 'plain');
const GENERATED_DIR = join(ROOT, 'js', 'hedgerow', 'src', 'core', 'generated');
/** The module as JavaScript: `start()` makes an instance. */
export const PLAIN_FILE = join(GENERATED_DIR, 'plain.js');
const STAMP_FILE = join(TARGET_DIR, '.inputs');

const INPUTS = [...WASM_INPUTS, 'scripts/lib/plain.mjs'];

// Keeps copying and filling as single operations: `copyWithin` and `fill` are native everywhere.
const FEATURES = [
  '--enable-bulk-memory',
  '--enable-bulk-memory-opt',
  '--enable-sign-ext',
  '--enable-nontrapping-float-to-int',
  '--enable-mutable-globals',
  '--enable-multivalue',
  '--enable-reference-types',
];

const OPTIMIZE = [
  '--signext-lowering',
  '--llvm-nontrapping-fptoint-lowering',
  '-O3',
  '--converge',
  '--strip-debug',
  '--strip-producers',
  '--strip-target-features',
];

// The generated code treats addresses as signed numbers.
const MAX_PAGES = 2 ** 15 - 1;

/** Whether the last build is up to date. */
export async function isPlainCurrent() {
  const stamp = await hashInputs(INPUTS);
  const isThere = existsSync(PLAIN_FILE) && existsSync(STAMP_FILE);
  return isThere && (await readFile(STAMP_FILE, 'utf8')) === stamp;
}

/** Builds it if it is out of date. Returns whether it has built. */
export async function buildPlain() {
  if (await isPlainCurrent()) return false;
  await rm(STAMP_FILE, { force: true });
  const wasmFile = await prepare(await compile());
  const jsFile = join(TARGET_DIR, 'plain.js');
  await run('wasm2js', [...FEATURES, wasmFile, '-O3', '-o', jsFile]);
  await mkdir(GENERATED_DIR, { recursive: true });
  await writeFile(PLAIN_FILE, await packed(asFunction(await readFile(jsFile, 'utf8'))));
  await writeFile(STAMP_FILE, await hashInputs(INPUTS));
  return true;
}

// Compiles the whole core, not split.
function compile() {
  return compileCore({
    profile: 'release',
    targetDir: TARGET_DIR,
    args: ['--no-default-features', '--features', 'std'],
    // The flags of `.cargo/config.toml`, without SIMD and without its limit on inlining.
    rustflags: '-Ctarget-feature=+bulk-memory -Csymbol-mangling-version=v0 -Clink-arg=--demangle',
    // An interpreter runs it: fewer operations are worth more than fewer bytes.
    env: { CARGO_PROFILE_RELEASE_OPT_LEVEL: '3' },
  });
}

async function prepare(compiled) {
  // Imported late: its package is only there once `setup` has run.
  const { withoutUnreached } = await import('./unreached.mjs');
  const [raw, optimized] = ['raw.wasm', 'plain.wasm'].map((name) => join(TARGET_DIR, name));
  await writeFile(raw, withoutUnreached(trapAtOnce(keepBoundary(compiled).bytes)));
  await run('wasm-opt', [...FEATURES, raw, ...OPTIMIZE, '-o', optimized]);
  return optimized;
}

/** Turns the output of wasm2js, which makes one instance when it is loaded, into a function that makes instances. */
function asFunction(text) {
  const end = text.indexOf('var retasmFunc');
  if (end < 0 || text.includes('import ')) throw new Error('wasm2js wrote another form of module');
  const body = replaceFunction(
    replaceFunction(
      text.slice(0, end),
      '__wasm_memory_size',
      'function __wasm_memory_size() { return pages; }',
    ),
    '__wasm_memory_grow',
    GROW,
  );
  // Its state is inside the function, so that instances share no state.
  return `export function start() {\n${body}\nreturn asmFunc({});\n}\n`;
}

/** Removes spaces and shortens names, and otherwise keeps the code of wasm2js. */
async function packed(text) {
  const { minify } = await import('rolldown/utils');
  const options = {
    module: true,
    compress: false,
    mangle: true,
    codegen: { removeWhitespace: true },
  };
  const { code, errors } = await minify('plain.js', text, options);
  if (errors.length > 0) throw new Error(errors[0].message);
  return `// Written by \`node scripts/build-react-native.mjs\`; not for editing.\n${code}`;
}

/** Replaces a top-level function, which ends at the first brace with the indentation of its start. */
function replaceFunction(text, name, replacement) {
  const found = new RegExp(`^( *)function ${name}\\([^]*?^\\1\\}`, 'm').exec(text);
  if (found === null) throw new Error(`wasm2js wrote no ${name}`);
  return text.slice(0, found.index) + replacement + text.slice(found.index + found[0].length);
}

// Grows memory by half whenever it grows: wasm2js would copy all of it for each 64 KiB that the
// allocator asks for. Returns -1 if that fails, like WebAssembly.
const GROW = `
 var pages = buffer.byteLength >> 16;
 function __wasm_memory_grow(pagesToAdd) {
  var oldPages = pages;
  var newPages = oldPages + (pagesToAdd >>> 0);
  if (newPages > ${MAX_PAGES}) return -1;
  if (newPages * 65536 > buffer.byteLength) {
   var newBuffer = allocate(Math.min(${MAX_PAGES}, Math.max(newPages, oldPages + (oldPages >> 1))));
   if (newBuffer === null) newBuffer = allocate(newPages);
   if (newBuffer === null) return -1;
   var newHEAP8 = new Int8Array(newBuffer);
   newHEAP8.set(HEAP8);
   HEAP8 = newHEAP8;
   HEAP16 = new Int16Array(newBuffer);
   HEAP32 = new Int32Array(newBuffer);
   HEAPU8 = new Uint8Array(newBuffer);
   HEAPU16 = new Uint16Array(newBuffer);
   HEAPU32 = new Uint32Array(newBuffer);
   HEAPF32 = new Float32Array(newBuffer);
   HEAPF64 = new Float64Array(newBuffer);
   buffer = newBuffer;
   bufferView = HEAPU8;
  }
  pages = newPages;
  return oldPages;
 }
 function allocate(count) {
  try {
   return new ArrayBuffer(count * 65536);
  } catch (_) {
   return null;
  }
 }`;
