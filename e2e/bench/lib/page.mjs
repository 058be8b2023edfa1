// What the pages of all engines have in common: their origins, and the files in which an engine keeps what pages store.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** No call of a page takes longer, or the page hangs. */
export const CALL_MS = 300_000;

const STORAGE_PATHS = {
  chromium: /IndexedDB|WebStorage|File System/,
  firefox: /^storage[\\/](default|permanent|private|temporary)[\\/]/,
  webkit: /IndexedDB|FileSystem/i,
};

/** An origin for each name, with databases and files of its own. */
export function originOf(name, port) {
  const host = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `http://${host}.localhost:${port}`;
}

/** The files of a profile that hold what pages stored. */
export async function storedFiles(profileDir, engine) {
  const files = await readdir(profileDir, { recursive: true });
  return files.filter((file) => STORAGE_PATHS[engine].test(file));
}

/** The size of these files. */
export async function storedMiB(profileDir, engine) {
  let bytes = 0;
  for (const file of await storedFiles(profileDir, engine)) {
    // Files come and go while the browser tidies up.
    const found = await stat(join(profileDir, file)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes / 2 ** 20;
}
