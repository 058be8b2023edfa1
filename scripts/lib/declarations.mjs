// Writes the declarations of the package: the output of tsc, and additions to it.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FULL } from './full.mjs';
import { dropStrayDeclarations } from './release-reach.mjs';
import { ROOT, run } from './run.mjs';

const DIST = join(ROOT, 'js', 'hedgerow', 'dist');
/** The declarations of entries without their own source. */
const DERIVED = { 'full.d.ts': FULL, 'slim.d.ts': "export * from './index.js';\n" };

const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n';

/**
 * Returns the text of a declaration file, with references to the library of TypeScript. An app need not name the types
 * for `using` in `lib`: without the references, `Symbol.dispose` is an error in each file that has it, unless
 * `skipLibCheck` is set.
 */
export function withReferences(text) {
  const isNeeded = /\bSymbol\.(dispose|asyncDispose)\b|\b(Async)?Disposable\b/.test(text);
  return isNeeded && !text.includes(DISPOSABLE) ? DISPOSABLE + text : text;
}

/** Adds the references to all declarations. */
async function addReferences() {
  for (const name of await readdir(DIST, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(DIST, name), 'utf8');
    const finished = withReferences(text);
    if (finished !== text) await writeFile(join(DIST, name), finished);
  }
}

/**
 * Checks the types of the sources, and writes the declarations that an entry leads to; returns the number of the
 * others.
 */
export async function buildDeclarations() {
  await run('tsc', ['-p', 'js/hedgerow', '--emitDeclarationOnly']);
  for (const [name, text] of Object.entries(DERIVED)) await writeFile(join(DIST, name), text);
  await addReferences();
  return dropStrayDeclarations();
}
