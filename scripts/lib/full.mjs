// `hedgerow/full`: the package in one file, including the parts that are otherwise loaded later. For
// service workers and worklets, which must not call `import()`.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const DIST = join(ROOT, 'js', 'dist');

/** Bundles it from the compiled package. */
export async function buildFull() {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(DIST, 'index.js'),
    platform: 'browser',
    external: /^[^./]/, // packages, which the app's bundler finds
  });
  await build.write({ file: join(DIST, 'full.js'), format: 'esm', codeSplitting: false });
  await build.close();
  await writeFile(join(DIST, 'full.d.ts'), "export * from './index.js';\n");
}
