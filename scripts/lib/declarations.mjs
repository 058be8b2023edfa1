// Writes the declarations of the package: the output of tsc, and additions to it.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FULL } from './full.mjs';
import { packageDir } from './published.mjs';
import { dropStrayDeclarations } from './release-reach.mjs';
import { run } from './run.mjs';

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

/** Adds the references to all declarations in a folder. */
async function addReferences(dist) {
  for (const name of await readdir(dist, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(dist, name), 'utf8');
    const finished = withReferences(text);
    if (finished !== text) await writeFile(join(dist, name), finished);
  }
}

/**
 * Checks the types of a package's sources, and writes the declarations that an entry leads to; returns the number of
 * the others. `derived` has the texts of declarations without their own source.
 */
export async function writeDeclarations(dir, derived = {}) {
  const dist = join(dir, 'dist');
  await run('tsc', ['-p', dir, '--emitDeclarationOnly']);
  for (const [name, text] of Object.entries(derived)) await writeFile(join(dist, name), text);
  await addReferences(dist);
  return dropStrayDeclarations(dir);
}

/** Writes the declarations of the store. */
export const buildDeclarations = () => writeDeclarations(packageDir('hedgerow'), DERIVED);
