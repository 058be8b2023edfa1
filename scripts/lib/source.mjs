// Imports an internal TypeScript module, with all that it imports.

import { join } from 'node:path';
import { ROOT } from './run.mjs';

export async function importSource(...path) {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(ROOT, ...path),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
