// Shares code among the pages of all engines: their origins, and the room that an engine takes for stored data.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storedFiles } from '../../lib/engines/backend.mjs';

/** No call of a working page takes longer. */
export const CALL_MS = 300_000;

/** Returns an origin for each name, with its own databases and files. */
export function originOf(name, port) {
  const host = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `http://${host}.localhost:${port}`;
}

/** Measures the files of a profile with the data of pages. */
export async function storedMiB(profileDir) {
  let bytes = 0;
  for (const file of await storedFiles(profileDir)) {
    // Files come and go while the browser tidies up.
    const found = await stat(join(profileDir, file)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes / 2 ** 20;
}
