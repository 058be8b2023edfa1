// What the pages of all engines have in common: their origins, and the room that an engine takes for what pages store.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storedFiles } from '../../lib/engines/backend.mjs';

/** No call of a page takes longer, or the page hangs. */
export const CALL_MS = 300_000;

/** An origin for each name, with databases and files of its own. */
export function originOf(name, port) {
  const host = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `http://${host}.localhost:${port}`;
}

/** The size of the files of a profile that hold what pages stored. */
export async function storedMiB(profileDir) {
  let bytes = 0;
  for (const file of await storedFiles(profileDir)) {
    // Files come and go while the browser tidies up.
    const found = await stat(join(profileDir, file)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes / 2 ** 20;
}
