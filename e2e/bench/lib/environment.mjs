// Describes the measured package, the browser, and the machine.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { backendOf } from '../../lib/engines/backend.mjs';

const PEERS = [
  'dexie',
  'idb',
  '@sqlite.org/sqlite-wasm',
  '@dolthub/doltlite-wasm',
  'replicache',
  'pouchdb-browser',
];

/** Describes the environment. Call it while the profile holds databases. */
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
    browser: { product, indexedDb: await backendOf(browser.profileDir) },
    machine: machine(),
  };
}

/** Describes the machine, and how busy it is. */
export function machine() {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: totalmem() / 2 ** 30,
    system: `${platform()} ${release()}`,
    loadAverage: loadavg()[0],
  };
}

async function versionsOf(names) {
  const found = names.map(async (name) => [name, await versionOf(name)]);
  return Object.fromEntries(await Promise.all(found));
}

/** Finds the package's version. Its `package.json` may not be exported, so this searches for the file. */
async function versionOf(name) {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const path of paths) {
    const text = await readFile(join(path, name, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text).version;
  }
  return 'unknown';
}
