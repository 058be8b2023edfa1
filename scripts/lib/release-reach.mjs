// Finds the files of the package that its entries lead to, by the imports of each entry, program and declaration, and
// so on.

import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** A file next to a module that it names at run time, such as a WebAssembly module. */
const OTHERS = /new URL\(\s*['"`](\.[^'"`]+)['"`]\s*,\s*import\.meta\.url/g;

/** Lists the files that package.json names, each with the field that names it. */
export function namedFiles(manifest) {
  const found = [];
  const add = (field, value) => {
    // A pattern names texts, which have no imports.
    if (typeof value === 'string' && value.includes('*')) return;
    if (typeof value === 'string') found.push({ file: posix.normalize(value), by: field });
    else for (const [key, one] of Object.entries(value ?? {})) add(`${field} ${key}`, one);
  };
  for (const field of ['main', 'types', 'react-native', 'unpkg', 'jsdelivr', 'bin', 'exports'])
    add(field, manifest[field]);
  return found;
}

/** Returns the imports of a file: files of the package by their paths, and other modules by their names. */
function importsOf(ts, file, text) {
  const isTypes = file.endsWith('.d.ts');
  const { importedFiles, referencedFiles } = ts.preProcessFile(text, true, true);
  const names = [...importedFiles.map(({ fileName }) => fileName)];
  for (const [, name] of text.matchAll(OTHERS)) names.push(name);
  const at = (name) => posix.normalize(posix.join(posix.dirname(file), name));
  const own = names.filter((name) => name.startsWith('.')).map(at);
  return {
    files: [
      ...(isTypes ? own.map((name) => name.replace(/\.js$/, '.d.ts')) : own),
      ...referencedFiles.map(({ fileName }) => at(fileName)),
    ],
    modules: names.filter((name) => !name.startsWith('.')),
  };
}

/**
 * Follows the imports of the package in the folder `dir`. Returns the reached files, the named but missing ones, and
 * the imports of other modules by file.
 */
export async function reach(dir, manifest) {
  // Imported late: its package is only there once `setup` has run.
  const { default: ts } = await import('typescript-5.4');
  const reached = new Set();
  const missing = [];
  const modules = [];
  const waiting = namedFiles(manifest);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { file, by } = next;
    if (reached.has(file)) continue;
    if (!existsSync(join(dir, file))) {
      missing.push({ file, by });
      continue;
    }
    reached.add(file);
    if (!/\.(js|ts)$/.test(file)) continue;
    const found = importsOf(ts, file, await readFile(join(dir, file), 'utf8'));
    for (const name of found.files) waiting.push({ file: name, by: file });
    for (const name of found.modules) modules.push({ name, by: file });
  }
  return { reached, missing, modules };
}

/**
 * Deletes the declarations in the `dist` of a package that no entry leads to: their modules are internal. No app can import them,
 * since `exports` does not name them. Returns how many there were.
 */
export async function dropStrayDeclarations(dir) {
  const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
  const { reached } = await reach(dir, manifest);
  let count = 0;
  for (const name of await readdir(join(dir, 'dist'), { recursive: true })) {
    const file = posix.join('dist', name.replaceAll('\\', '/'));
    if (!file.endsWith('.d.ts') || reached.has(file)) continue;
    await rm(join(dir, file));
    count += 1;
  }
  return count;
}

/** Returns the name of a module's package: `@a/b/c` belongs to `@a/b`. */
export const packageOf = (module) => module.match(/^(@[^/]+\/)?[^/]+/)[0];
