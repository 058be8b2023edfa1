// Builds `hedgerow/slim`: the package with the WebAssembly in separate files. It has its own modules where they differ
// from the modules of `hedgerow`, or reach one that does; it shares the others, such as the class of errors.

import { copyFile, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ROOT } from './run.mjs';
import { LATER_WASM_FILE, WASM_FILE } from './wasm.mjs';

const MARK = '?slim';
const SOURCE = join(ROOT, 'js', 'hedgerow', 'src');
const DIST = join(ROOT, 'js', 'hedgerow', 'dist');

/** Modules that are left out, and the modules that replace them. */
const SWAPPED = new Map(
  [
    ['core/check-platform.ts', 'core/slim/slim-check-platform.ts'],
    ['core/instantiate-core.ts', 'core/slim/slim-core.ts'],
    ['core/instantiate-on-demand-core.ts', 'core/slim/slim-on-demand-core.ts'],
  ].map(([from, to]) => [join(SOURCE, from), join(SOURCE, to)]),
);

/** Returns the name of slim's own copy of a module. */
export const slimOf = (file) => file + MARK;
export const isSlim = (id) => id.endsWith(MARK);
const fileOf = (id) => id.slice(0, -MARK.length);

/** Gives slim a copy of each module of the package for which `isOwn` holds. */
export function slimPlugin(isOwn) {
  const ownFileOf = (id) => {
    if (id.startsWith(join(SOURCE, 'core', 'slim', sep))) return id;
    return isOwn(id) ? (SWAPPED.get(id) ?? id) : undefined;
  };
  return {
    name: 'slim',
    async resolveId(source, importer) {
      if (isSlim(source)) return source;
      if (importer === undefined || !isSlim(importer) || !source.startsWith('.')) return null;
      const found = await this.resolve(source, fileOf(importer), { skipSelf: true });
      const own = found === null ? undefined : ownFileOf(found.id);
      return own === undefined ? found : slimOf(own);
    },
    load: async (id) =>
      isSlim(id) ? { code: await readFile(fileOf(id), 'utf8'), moduleType: 'ts' } : null,
  };
}

/** Adds the WebAssembly. */
export async function finishSlim() {
  await copyFile(WASM_FILE, join(DIST, 'slim', 'hedgerow.wasm'));
  await copyFile(LATER_WASM_FILE, join(DIST, 'slim', 'hedgerow-later.wasm'));
}
