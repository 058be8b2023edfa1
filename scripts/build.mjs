// `npm run build`: compiles the core to WebAssembly, then the wrapper to `js/dist`. With `--dev` it takes seconds; that
// build is for tests and the debugger, not for publishing.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joinModules } from './lib/chunks.mjs';
import { finishDeclarations } from './lib/declarations.mjs';
import { buildFull } from './lib/full.mjs';
import { buildInspector } from './lib/inspector.mjs';
import { dropStrayDeclarations } from './lib/release-reach.mjs';
import { ROOT, run, runMain } from './lib/run.mjs';
import { buildWasm } from './lib/wasm.mjs';

/** Builds the package `hedgerow`; `setup` must have run. */
export async function build({ dev = false } = {}) {
  const rebuilt = await buildWasm({ dev });
  console.log(
    `wasm        ${rebuilt ? 'built' : 'up to date'}: js/pkg${dev ? ', for development' : ''}`,
  );
  // Empty it first: the package must not contain files whose source was deleted.
  await rm(join(ROOT, 'js', 'dist'), { recursive: true, force: true });
  await run('tsc', ['-p', 'js']);
  await finishDeclarations();
  await joinModules();
  await buildFull();
  await buildInspector();
  const dropped = await dropStrayDeclarations();
  console.log(`typescript  built: js/dist, without ${dropped} declarations that no entry leads to`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => build({ dev: process.argv.includes('--dev') }));
}
