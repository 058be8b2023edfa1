/** Segments as Blobs: each takes its own room in the profile, which must go with the segment. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backendOf } from '../lib/engines/backend.mjs';
import { type EngineName, isChromium } from '../lib/engines/index.mjs';
import { expect, type Page, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 60_000 };

/** Counts the Blobs of IndexedDB in a profile. */
async function keptBlobs(profileDir: string, engine: EngineName): Promise<number> {
  const isInRows = isChromium(engine) && (await backendOf(profileDir)) === 'sqlite';
  return isInRows ? rowsOfBlobs(profileDir) : filesOfBlobs(profileDir);
}

/** Counts the files in which Chromium keeps them next to LevelDB, and Firefox next to SQLite. */
async function filesOfBlobs(profileDir: string): Promise<number> {
  const entries = await readdir(profileDir, { recursive: true, withFileTypes: true });
  const isOfBlobs = /\.indexeddb\.blob\/|\/idb\/[^/]+\.files$/;
  return entries.filter((entry) => entry.isFile() && isOfBlobs.test(entry.parentPath)).length;
}

/** Counts the rows in which Chromium keeps them in SQLite. */
async function rowsOfBlobs(profileDir: string): Promise<number> {
  // Imported late: SQLite may still be compiled while other engines run.
  const { Sqlite } = await import('../../js/sqlite/test/support/sqlite.mjs');
  // The browser has locked the databases.
  const copy = await mkdtemp(join(profileDir, 'copy-'));
  try {
    await cp(join(profileDir, 'Default', 'IndexedDB'), copy, { recursive: true });
    const entries = await readdir(copy, { recursive: true, withFileTypes: true });
    const databases = entries.filter((entry) => entry.isFile() && !entry.name.includes('-'));
    const counts = databases.map(({ parentPath, name }) => {
      const db = new Sqlite(join(parentPath, name));
      try {
        return Number(db.prepare('SELECT count(*) FROM blobs').all()[0]?.[0]);
      } finally {
        db.close();
      }
    });
    return counts.reduce((sum, count) => sum + count, 0);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Counts all Blobs in the databases of the page. */
function storedBlobs(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    let count = 0;
    for (const { name } of await indexedDB.databases()) {
      const db = await settled(indexedDB.open(String(name)));
      for (const store of db.objectStoreNames) {
        const values = await settled(db.transaction(store).objectStore(store).getAll());
        // Joined tables are in an array.
        count += values.flat().filter((value) => value instanceof Blob).length;
      }
      db.close();
    }
    return count;
  });
}

test('a collection leaves no part of a Blob behind', async ({ engine, persistentPage }) => {
  const { profileDir } = persistentPage;
  const page = await visit(persistentPage.page);
  await openStore(page, 'files');
  // Handles of Blobs that will be deleted are kept, from reads of parts.
  const rewrite = (round: number) =>
    page.evaluate(async (round) => {
      await window.db.putMany(window.rows(30_000, round));
      const keys = await window.db.scan({ limit: 30_000 }).toArray();
      for (let at = 0; at < keys.length; at += 1000) await window.db.get(String(keys[at]?.[0]));
    }, round);
  await rewrite(0);
  const first = await storedBlobs(page);
  // WebKit stores pieces: it does not count Blobs in its quota.
  expect(first > 0).toBe(engine !== 'webkit');
  for (let round = 1; round < 4; round++) await rewrite(round);
  const state = await stateOf(page);
  await page.evaluate(() => window.db.health.compact());
  const left = async () => {
    const [kept, blobs] = [await keptBlobs(profileDir, engine), await storedBlobs(page)];
    return blobs <= 2 * first + 1 && kept === blobs ? 'as many' : `${kept} kept of ${blobs} Blobs`;
  };
  await expect.poll(left, SLOWLY).toBe('as many');
  const after = await visit(await persistentPage.relaunch());
  await openStore(after, 'files');
  expect(await stateOf(after)).toEqual(state);
  expect(await keptBlobs(profileDir, engine)).toBe(await storedBlobs(after));
});
