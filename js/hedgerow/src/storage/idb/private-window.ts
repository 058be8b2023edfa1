/**
 * Finds out whether this is a private window, which deletes its storage when it closes. No browser says so, but two of
 * three engines refuse something there that they allow elsewhere. Loaded with the health of storage.
 */

import { isGecko, isWebKit } from '../../base/browser-engine.js';
import { within } from '../../base/timeout.js';
import { deleteDatabase } from './destroy-database.js';
import { runIdbTransaction } from './idb-transaction.js';
import { openWithin } from './open-database.js';

const DATABASE = 'hedgerow-probe';
const STORE = 'segments';
/** Longest wait for an engine, in milliseconds: without an answer the result is unknown. */
const LIMIT_MS = 5000;

let known: Promise<boolean | undefined> | undefined;

/** Resolves to `undefined` if the answer is unknown, as in Chromium. Checks once in each page. */
export function isPrivateWindow(): Promise<boolean | undefined> {
  known ??= look();
  return known;
}

async function look(): Promise<boolean | undefined> {
  if (isGecko()) return within(LIMIT_MS, refusesFiles());
  return isWebKit() ? within(LIMIT_MS, refusesBlobs()) : undefined;
}

/** Checks for a file system, which Firefox lacks in private windows. Elsewhere this creates one of about 0.5 MB. */
async function refusesFiles(): Promise<boolean | undefined> {
  try {
    await navigator.storage.getDirectory();
    return false;
  } catch (cause) {
    return nameOf(cause) === 'SecurityError' ? true : undefined;
  }
}

/** Checks whether a Blob can be stored, which WebKit refuses in private windows. */
async function refusesBlobs(): Promise<boolean | undefined> {
  try {
    const db = await openWithin(LIMIT_MS, DATABASE, {
      onUpgrade: (made) => void made.createObjectStore(STORE),
      onBlocking: (opened) => opened.close(),
    });
    if (db === undefined) return undefined;
    try {
      await runIdbTransaction<void>(db, [STORE], 'readwrite', 'relaxed', (work) => {
        work.store(STORE).put(new Blob(['-']), 0);
        work.commit();
      });
      return false;
    } catch (cause) {
      return /Blob/.test(String(cause)) ? true : undefined;
    } finally {
      db.close();
      deleteDatabase(DATABASE).catch(() => {});
    }
  } catch {
    return undefined;
  }
}

function nameOf(cause: unknown): string | undefined {
  return (cause as { name?: string } | undefined)?.name;
}
