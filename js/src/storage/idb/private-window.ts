/**
 * Finds out whether this is a private window, whose storage is deleted when it closes. No browser says so, but two of
 * three engines refuse something there that they allow elsewhere. Loaded with the health of storage.
 */
import { deleteDB, openDB } from 'idb';
import { within } from '../../base/timeout.js';
import { isGecko } from './engine-name.js';

const DATABASE = 'hedgerow-probe';
/** Longest wait for an engine, in milliseconds: without an answer it stays unknown. */
const LIMIT_MS = 5000;

let known: Promise<boolean | undefined> | undefined;

/** Resolves to `undefined` where that cannot be known, as in Chromium. Checks once in each page. */
export function isPrivateWindow(): Promise<boolean | undefined> {
  known ??= look();
  return known;
}

async function look(): Promise<boolean | undefined> {
  const agent = globalThis.navigator?.userAgent ?? '';
  if (isGecko()) return within(LIMIT_MS, refusesFiles());
  // All browsers of iOS are WebKit. Chromium names it, too, but is not.
  const isWebKit = /AppleWebKit\//.test(agent) && !/Chrom(e|ium)\//.test(agent);
  return isWebKit ? within(LIMIT_MS, refusesBlobs()) : undefined;
}

/** Firefox has no file system for private windows. In other windows this creates one of about 0.5 MB. */
async function refusesFiles(): Promise<boolean | undefined> {
  try {
    await navigator.storage.getDirectory();
    return false;
  } catch (cause) {
    return nameOf(cause) === 'SecurityError' ? true : undefined;
  }
}

/** WebKit stores no Blobs in a private window. */
async function refusesBlobs(): Promise<boolean | undefined> {
  try {
    const db = await openDB(DATABASE, 1, {
      upgrade: (made) => void made.createObjectStore('blobs'),
    });
    try {
      await db.put('blobs', new Blob(['-']), 0);
      return false;
    } catch (cause) {
      return /Blob/.test(String(cause)) ? true : undefined;
    } finally {
      db.close();
      deleteDB(DATABASE).catch(() => {});
    }
  } catch {
    return undefined;
  }
}

function nameOf(cause: unknown): string | undefined {
  return (cause as { name?: string } | undefined)?.name;
}
