// Builds `hedgerow/full`: the package in one file, including the parts that are otherwise loaded later, with tables,
// live queries, transports of sync, and `serve` for pages that have their store in a worker. For service workers and worklets, which must
// not call `import()`.

import { join } from 'node:path';
import { ROOT } from './run.mjs';

const DIST = join(ROOT, 'js', 'hedgerow', 'dist');

/** Its exports besides all of `hedgerow`, by the entries of their types. */
const MORE = {
  'store/tables/index': 'file, StoredFile, table',
  'live/index': 'live, liveCount, liveRow',
  'sync/index': 'bucket, httpRemote, mutators, rest, s3Remote',
  'worker/host': 'serve',
};
/** The source of the module and of its declarations. */
export const FULL = [
  "export * from './index.js';",
  ...Object.entries(MORE).map(([entry, names]) => `export { ${names} } from './${entry}.js';`),
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
    external: /^[^./]/, // packages, which the app's bundler finds
  });
  await build.write({ file: join(DIST, 'full.js'), format: 'esm', codeSplitting: false });
  await build.close();
}
