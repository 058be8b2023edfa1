/**
 * Whether this is a private window, whose storage is deleted with it. No browser says so; two of three engines
 * refuse something there that they allow elsewhere. Loaded when somebody asks how healthy storage is.
 */
import { deleteDB, openDB } from 'idb';
import { within } from '../../base/timeout.js';
import { isGecko } from './engine-name.js';

const DATABASE = 'hedgerow-probe';
/** An engine that has not answered by then, in milliseconds, tells nothing. */
const LIMIT_MS = 5000;

let known: Promise<boolean | undefined> | undefined;

/** `undefined` where it cannot be known, as in Chromium. Looks once for each page. */
export function isPrivateWindow(): Promise<boolean | undefined> {
  known ??= look();
  return known;
}

async function look(): Promise<boolean | undefined> {
  const agent = globalThis.navigator?.userAgent ?? '';
  if (isGecko()) return within(LIMIT_MS, refusesFiles());
  // All browsers of iOS are WebKit; Chromium only says so.
  const isWebKit = /AppleWebKit\//.test(agent) && !/Chrom(e|ium)\//.test(agent);
  return isWebKit ? within(LIMIT_MS, refusesBlobs()) : undefined;
}

/** Firefox has no file system for private windows. In others this makes one, of about 0.5 MB. */
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
