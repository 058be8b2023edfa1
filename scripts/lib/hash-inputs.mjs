// Makes one hash of files: a build of the same files need not be repeated.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT } from './run.mjs';

/** Returns one hash of all files of `inputs`, files and folders, except the files and folders `without`. */
export async function hashInputs(inputs, { without = [] } = {}) {
  const isLeftOut = (name) => without.some((one) => name === one || name.startsWith(`${one}/`));
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const file of await filesUnder(join(ROOT, input))) {
      const name = relative(ROOT, file).replaceAll('\\', '/');
      if (isLeftOut(name)) continue;
      const content = await readFile(file);
      hash.update(`${name}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

async function filesUnder(path) {
  const entries = await readdir(path, { withFileTypes: true, recursive: true }).catch((error) => {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
