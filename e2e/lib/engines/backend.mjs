// Which library keeps IndexedDB in a profile: its files tell, whatever the browser was asked for.

import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The folders of what pages stored in Chromium and WebKit, and in Firefox. */
const STORED =
  /IndexedDB|WebStorage|File ?System|^storage[\\/](default|permanent|private|temporary)[\\/]/i;

/** The files of a profile that hold what pages stored. */
export async function storedFiles(profileDir) {
  const files = await readdir(profileDir, { recursive: true });
  return files.filter((file) => STORED.test(file));
}

/** `leveldb`, `sqlite`, both joined by `+`, or `none`. */
export async function backendOf(profileDir) {
  const found = new Set();
  for (const file of await storedFiles(profileDir)) {
    if (/\.leveldb[\\/]MANIFEST/.test(file)) found.add('leveldb');
    // The quota manager's own is there with either.
    if (!file.includes('QuotaManager') && (await isSqlite(join(profileDir, file)))) {
      found.add('sqlite');
    }
  }
  return [...found].sort().join('+') || 'none';
}

/** Throws for a profile whose IndexedDB is in another library than the one that an engine is there for, if it is for one. */
export async function refuseOtherBackend({ name, backend }, profileDir) {
  if (backend === undefined) return;
  const found = await backendOf(profileDir);
  if (found === backend || found === 'none') return;
  throw new Error(
    `${name}: IndexedDB is in ${found}, not in ${backend}: this browser does not do what its command line asks for, or ` +
      'another engine has used the profile',
  );
}

async function isSqlite(path) {
  const file = await open(path).catch(() => undefined);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(15), 0, 15, 0);
    return buffer.toString('latin1', 0, bytesRead) === 'SQLite format 3';
  } catch {
    return false; // a folder, or gone by now
  } finally {
    await file?.close();
  }
}
