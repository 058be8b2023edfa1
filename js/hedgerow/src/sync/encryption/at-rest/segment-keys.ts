/** Makes the keys of segments: one for each, from the data key and a salt that is stored with the segment. */
import { frameKey, partKey } from '../aead.js';
import { deriveBytes, KEY_BYTES } from '../hkdf.js';

export const SALT_BYTES = 16;
const INFO = 'hedgerow at rest 1: segment';
/** The most keys in memory: enough for a store of 2 GB. */
const MOST_KEPT = 4096;

/** The key of a segment, for all of it and for parts. */
export interface SegmentKey {
  readonly whole: CryptoKey;
  readonly parts: CryptoKey;
}

/** A key for a segment before it is written. */
export interface FreshKey {
  readonly saltBytes: Uint8Array;
  readonly key: SegmentKey;
}

export class SegmentKeys {
  readonly #root: CryptoKey;
  readonly #kept = new Map<number, Promise<SegmentKey>>();
  #next: Promise<FreshKey> | undefined;

  constructor(root: CryptoKey) {
    this.#root = root;
  }

  /** Resolves to the key of a stored segment. */
  of(id: number, saltBytes: Uint8Array): Promise<SegmentKey> {
    const before = this.#kept.get(id);
    if (before !== undefined) return before;
    const made = this.#make(saltBytes);
    this.keep(id, made);
    made.catch(() => this.forget(id));
    return made;
  }

  /** Resolves to a key that no segment has. The next one is made in advance, so that a write rarely waits for it. */
  async fresh(): Promise<FreshKey> {
    const own = this.#next ?? this.#fresh();
    this.#next = this.#fresh();
    this.#next.catch(() => {
      this.#next = undefined;
    });
    return own;
  }

  keep(id: number, key: Promise<SegmentKey>): void {
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(id, key);
  }

  forget(id: number): void {
    this.#kept.delete(id);
  }

  async #fresh(): Promise<FreshKey> {
    const saltBytes = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    return { saltBytes, key: await this.#make(saltBytes) };
  }

  async #make(saltBytes: Uint8Array): Promise<SegmentKey> {
    const rawBytes = await deriveBytes(this.#root, saltBytes, INFO, KEY_BYTES);
    const [whole, parts] = await Promise.all([frameKey(rawBytes), partKey(rawBytes)]);
    return { whole, parts };
  }
}
