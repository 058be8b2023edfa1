// Imports an internal TypeScript module, with all that it imports.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'js', 'sources.json'), 'utf8'));

/** Options of rolldown that lead imports to sources: imports of files, and of packages by their names. */
export const TO_SOURCES = {
  extensionAlias: { '.js': ['.ts', '.js'] },
  alias: Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([name, [file]]) => [
      `${name}$`,
      join(ROOT, 'js', file),
    ]),
  ),
};

export async function importSource(...path) {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(ROOT, ...path),
    resolve: TO_SOURCES,
  });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
