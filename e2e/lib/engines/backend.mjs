// Finds the library that keeps IndexedDB in a profile, by its files, whatever the command line asked for.

import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The folders of stored data in Chromium and WebKit, and in Firefox. */
const STORED =
  /IndexedDB|WebStorage|File ?System|^storage[\\/](default|permanent|private|temporary)[\\/]/i;

/** Lists the files of a profile that hold the data of pages. */
export async function storedFiles(profileDir) {
  const files = await readdir(profileDir, { recursive: true });
  return files.filter((file) => STORED.test(file));
}

/** Returns `leveldb`, `sqlite`, both joined by `+`, or `none`. */
export async function backendOf(profileDir) {
  const found = new Set();
  for (const file of await storedFiles(profileDir)) {
    if (/\.leveldb[\\/]MANIFEST/.test(file)) found.add('leveldb');
    // The quota manager has a database of its own with either.
    if (!file.includes('QuotaManager') && (await isSqlite(join(profileDir, file)))) {
      found.add('sqlite');
    }
  }
  return [...found].sort().join('+') || 'none';
}

/** Throws if an engine requires one library for IndexedDB and the profile uses another. */
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
