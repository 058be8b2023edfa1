// What was measured, with what, and where.

import { open, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { storedFiles } from './page.mjs';

const PEERS = [
  'dexie',
  '@sqlite.org/sqlite-wasm',
  '@dolthub/doltlite-wasm',
  'replicache',
  'pouchdb-browser',
];

/** To be called while the profile holds databases. */
export async function environment(browser) {
  const product = await browser.product();
  return {
    versions: {
      hedgerow: await versionOf('hedgerow'),
      ...(await versionsOf(PEERS)),
      vite: await versionOf('vite'),
      playwright: await versionOf('@playwright/test'),
      node: process.version,
    },
    browser: { product, indexedDb: await backendOf(browser) },
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? 'unknown',
      memoryGiB: totalmem() / 2 ** 30,
      system: `${platform()} ${release()}`,
      loadAverage: loadavg()[0],
    },
  };
}

async function versionsOf(names) {
  const found = names.map(async (name) => [name, await versionOf(name)]);
  return Object.fromEntries(await Promise.all(found));
}

/** The package's version; its `package.json` may not be exported, so it is looked for. */
async function versionOf(name) {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const path of paths) {
    const text = await readFile(join(path, name, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text).version;
  }
  return 'unknown';
}

/** What keeps IndexedDB, by the files that it left in the profile. */
async function backendOf({ profileDir, engine }) {
  const found = new Set();
  for (const file of await storedFiles(profileDir, engine)) {
    if (/\.leveldb[\\/]MANIFEST/.test(file)) found.add('leveldb');
    // The quota manager's own is there with either.
    if (!file.includes('QuotaManager') && (await isSqlite(join(profileDir, file)))) {
      found.add('sqlite');
    }
  }
  return [...found].sort().join('+') || 'unknown';
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
