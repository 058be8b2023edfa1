// Builds `hedgerow/full`: the package in one file, including the parts that are otherwise loaded later, with proofs,
// transports of sync, and `serve` for pages that have their store in a worker. For service workers and worklets, which
// must not call `import()`, and for pages that load it by its address, where no bundler finds a package.

import { join } from 'node:path';
import { ROOT } from './run.mjs';

const DIST = join(ROOT, 'js', 'hedgerow', 'dist');

/** The source of the module and of its declarations. */
export const FULL = [
  "export * from './index.js';",
  "export * from './proofs.js';",
  "export { bucket, httpRemote, mutators, rest, s3Remote } from './sync/index.js';",
  "export { serve } from './worker/index.js';",
  '',
].join('\n');

/** Bundles it from the compiled package. */
export async function buildFull() {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(DIST, 'full.entry.js'),
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id.endsWith('full.entry.js') ? join(DIST, 'full.entry.js') : null),
        load: (id) => (id === join(DIST, 'full.entry.js') ? FULL : null),
      },
    ],
    platform: 'browser',
    external: /^node:/,
  });
  const { output } = await build.write({
    file: join(DIST, 'full.js'),
    format: 'esm',
    codeSplitting: false,
    banner: '/*! With noble-hashes: MIT License, (c) 2022 Paul Miller (paulmillr.com) */',
  });
  await build.close();
  const imported = output.flatMap(({ imports = [], dynamicImports = [] }) => [
    ...imports,
    ...dynamicImports,
  ]);
  const packages = imported.filter((name) => name !== 'full.js' && !name.startsWith('node:'));
  if (packages.length > 0) throw new Error(`full.js is not whole: it imports ${packages}`);
}
