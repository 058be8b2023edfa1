// The declarations of the package: those of tsc, and what it leaves out of them.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FULL } from './full.mjs';
import { dropStrayDeclarations } from './release-reach.mjs';
import { ROOT, run } from './run.mjs';

const DIST = join(ROOT, 'js', 'dist');
/** The declarations of entries that have no source of their own. */
const DERIVED = { 'full.d.ts': FULL, 'slim.d.ts': "export * from './index.js';\n" };

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
async function addReferences() {
  for (const name of await readdir(DIST, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(DIST, name), 'utf8');
    const finished = withReferences(text);
    if (finished !== text) await writeFile(join(DIST, name), finished);
  }
}

/** Checks the types of the sources, and writes the declarations that an entry leads to; returns how many others there were. */
export async function buildDeclarations() {
  await run('tsc', ['-p', 'js', '--emitDeclarationOnly']);
  for (const [name, text] of Object.entries(DERIVED)) await writeFile(join(DIST, name), text);
  await addReferences();
  return dropStrayDeclarations();
}
