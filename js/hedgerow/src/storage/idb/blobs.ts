/**
 * Segments as Blobs: a get of the record reads no bytes, and a slice of it reads a part, many in parallel. Figures are
 * in `docs/browsers.md`, "Records of raw IndexedDB".
 */
import { isChromium, isGecko } from '../../base/browser-engine.js';
import type { SegmentRequest } from '../segment-store.js';

/** An engine as storage sees it. */
interface Engine {
  /** Whether it stores Blobs in IndexedDB, also in private windows, and counts them in the quota. */
  readonly takesBlobs: boolean;
  /** See `SegmentStore.requestCost`. */
  readonly requestCost: number;
}

/**
 * A part of a Blob takes 0.8 ms, including 0.3 ms of `slice()`, which asks the browser's process and waits; all of its
 * 512 KiB take 1.45.
 */
const CHROMIUM: Engine = { takesBlobs: true, requestCost: 600 << 10 };
/** One of many parts takes 0.24 ms, and a whole Blob 1.6. */
const FIREFOX: Engine = { takesBlobs: true, requestCost: 100 << 10 };
/**
 * WebKit does not count Blobs, and refuses them in private windows; other engines are unknown. One of many pieces takes
 * 0.3 ms, and all of a segment 2.3.
 */
const OTHERS: Engine = { takesBlobs: false, requestCost: 64 << 10 };

/** Returns the engine that runs this code. */
export function engine(): Engine {
  if (isChromium()) return CHROMIUM;
  return isGecko() ? FIREFOX : OTHERS;
}

/** Returns `value` if it is a Blob, of this realm or of the frame whose IndexedDB gave it. */
export function blobOf(value: unknown): Blob | undefined {
  const blob = value as Partial<Blob> | undefined;
  const isBlob = typeof blob?.slice === 'function' && typeof blob.arrayBuffer === 'function';
  return isBlob ? (value as Blob) : undefined;
}

/** Reads the wanted part of a Blob; resolves to `undefined` if it cannot: the file is lost or deleted. */
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

/** Most Blobs to keep: the segments of 2 GB. Each is a handle, also in the process of the browser. */
const MOST_KEPT = 4096;
/** Most Blobs to get with one that was read. In Chromium 64 take 7 ms, and one alone takes 1. */
const MOST_AHEAD = 64;

/** The Blobs of read segments, and of the segments behind them, so that a further part costs no look-up. */
export class Handles {
  readonly #blobs = new Map<number, Blob>();

  get(id: number): Blob | undefined {
    return this.#blobs.get(id);
  }

  keep(id: number, blob: Blob): void {
    this.#blobs.delete(id);
    this.#blobs.set(id, blob);
    // The oldest one goes.
    for (const old of this.#blobs.keys()) {
      if (this.#blobs.size <= MOST_KEPT) break;
      this.#blobs.delete(old);
    }
  }

  drop(id: number): void {
    this.#blobs.delete(id);
  }

  /** Keeps only Blobs of stored segments: a handle keeps the space of a deleted one. */
  keepOnly(stored: ReadonlySet<number>): void {
    for (const id of this.#blobs.keys()) if (!stored.has(id)) this.#blobs.delete(id);
  }

  /** The number of Blobs to get behind a segment after its look-up: a handle that has read more will read more. */
  get ahead(): number {
    return Math.min(this.#blobs.size, MOST_AHEAD);
  }
}
