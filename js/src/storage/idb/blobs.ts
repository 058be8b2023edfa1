/**
 * Segments as Blobs: getting the record reads nothing, and a slice of it reads a part, many in parallel.
 * Figures are in `docs/browsers.md`, "Records of raw IndexedDB".
 */
import { isChromium, isGecko } from '../../base/engine-name.js';
import type { SegmentRequest } from '../segment-store.js';

/** An engine as storage sees it. */
interface Engine {
  /** It stores Blobs in IndexedDB, in private windows too, and counts them in the quota. */
  readonly takesBlobs: boolean;
  /** See `SegmentStore.requestCost`. */
  readonly requestCost: number;
}

/**
 * A part of a Blob takes 0.8 ms, of which `slice()`, which asks the browser's process and waits, takes 0.3; all of its 512
 * KiB take 1.45.
 */
const CHROMIUM: Engine = { takesBlobs: true, requestCost: 600 << 10 };
/** Of many parts each takes 0.24 ms, and a whole one 1.6. */
const FIREFOX: Engine = { takesBlobs: true, requestCost: 100 << 10 };
/**
 * WebKit does not count Blobs, and refuses them in private windows; of others nobody knows. Of many pieces each takes 0.3
 * ms, and all of a segment 2.3.
 */
const OTHERS: Engine = { takesBlobs: false, requestCost: 64 << 10 };

/** The engine that this runs in. */
export function engine(): Engine {
  if (isChromium()) return CHROMIUM;
  return isGecko() ? FIREFOX : OTHERS;
}

/** A Blob, of this realm or of the frame whose IndexedDB gave it. */
export function blobOf(value: unknown): Blob | undefined {
  const blob = value as Partial<Blob> | undefined;
  const isBlob = typeof blob?.slice === 'function' && typeof blob.arrayBuffer === 'function';
  return isBlob ? (value as Blob) : undefined;
}

/** What is wanted of a Blob; `undefined` if it cannot be read: its file is lost, or it was deleted. */
export async function readBlob(
  blob: Blob,
  wanted: SegmentRequest,
): Promise<Uint8Array | undefined> {
  const part = typeof wanted === 'number' ? blob : blob.slice(wanted.from, wanted.to);
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch {
    return undefined;
  }
}

/** So many Blobs are kept: the segments of 2 GB. Each is a handle, in the process of the browser too. */
const MOST_KEPT = 4096;
/** Most Blobs that are got with one that was read. In Chromium 64 take 7 ms, and one alone takes 1. */
const MOST_AHEAD = 64;

/** The Blobs of segments that were read, and of those behind them, so that a further part costs no look-up. */
export class Handles {
  readonly #blobs = new Map<number, Blob>();

  get(id: number): Blob | undefined {
    return this.#blobs.get(id);
  }

  keep(id: number, blob: Blob): void {
    this.#blobs.delete(id);
    this.#blobs.set(id, blob);
    // The one that was kept first goes.
    for (const old of this.#blobs.keys()) {
      if (this.#blobs.size <= MOST_KEPT) break;
      this.#blobs.delete(old);
    }
  }

  drop(id: number): void {
    this.#blobs.delete(id);
  }

  /** Keeps only those of segments that are stored: a handle keeps the space of what was deleted. */
  keepOnly(stored: ReadonlySet<number>): void {
    for (const id of this.#blobs.keys()) if (!stored.has(id)) this.#blobs.delete(id);
  }

  /** How many Blobs to get behind a segment that was looked up: the more have been read, the more will be. */
  get ahead(): number {
    return Math.min(this.#blobs.size, MOST_AHEAD);
  }
}
