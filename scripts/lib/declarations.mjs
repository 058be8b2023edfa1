// What tsc leaves out of the declarations in `js/dist`, for apps with other settings than ours.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n';

/**
 * The text of a declaration file, with what it needs of the library of TypeScript. An app need not name in `lib` what
 * `using` takes: without that, `Symbol.dispose` is an error in each file that has it, unless `skipLibCheck` is set.
 */
export function withReferences(text) {
  const isNeeded = /\bSymbol\.(dispose|asyncDispose)\b|\b(Async)?Disposable\b/.test(text);
  return isNeeded && !text.includes(DISPOSABLE) ? DISPOSABLE + text : text;
}

/** Adds that to all declarations. */
export async function finishDeclarations(dist = join(ROOT, 'js', 'dist')) {
  for (const name of await readdir(dist, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(dist, name), 'utf8');
    const finished = withReferences(text);
    if (finished !== text) await writeFile(join(dist, name), finished);
  }
}
