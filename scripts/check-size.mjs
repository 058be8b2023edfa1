// Holds the package to its budget: all that a page downloads to use Hedgerow, bundled,
// minified and gzipped, with the WebAssembly module inside.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { ROOT, runMain } from './lib/run.mjs';
import { WASM_FILE } from './lib/wasm.mjs';

const BUDGET_BYTES = 150_000;

/** Bundles the package, with the module's text emptied when `withModule` is false. */
async function bundle(withModule) {
  const emptied = {
    name: 'empty-module',
    transform: (code, id) =>
      /generated[\\/]module\.js$/.test(id) ? code.replace(/'[A-Za-z0-9+/=]+'/, "''") : undefined,
  };
  const build = await rolldown({
    input: join(ROOT, 'js', 'dist', 'index.js'),
    platform: 'browser',
    plugins: withModule ? [] : [emptied],
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output.map((chunk) => chunk.code ?? '').join('');
}

const gzippedLength = (content) => gzipSync(content, { level: 9 }).length;

async function main() {
  const print = (name, bytes) =>
    console.log(`${name.padEnd(24)}${bytes.toLocaleString('en').padStart(9)} bytes, gzipped`);
  const total = gzippedLength(await bundle(true));
  print('WebAssembly alone', gzippedLength(await readFile(WASM_FILE)));
  print('JavaScript alone', gzippedLength(await bundle(false)));
  print('all, as downloaded', total);
  print('budget', BUDGET_BYTES);
  if (total > BUDGET_BYTES) {
    console.error(`over the budget by ${total - BUDGET_BYTES} bytes`);
    process.exitCode = 1;
  }
}

await runMain(main);
