/** The rows of a document of Yjs: what was changed, row by row, and how many rows become one. */

import { mergeUpdates } from 'yjs';
import type { HedgerowError } from '../base/errors.js';
import { uniqueName } from '../base/locks.js';
import type { Change, Durability, Store } from '../index.js';

/** How rows are written. */
export interface RowOptions {
  readonly durability?: Durability | undefined;
  /** Compact when there are as many rows. */
  readonly maxRows: number;
  /** Compact when the rows beside the largest have as many bytes, and more than that. */
  readonly maxBytes: number;
}

/** The longest wait before a write that has failed is tried again, in milliseconds; the first is a second. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Updates of a document, each under a key of its own that no other tab uses. They may be applied in any order and more
 * than once, so that tabs need no lock: who merges rows deletes only those that are in what it puts, in the same commit.
 */
export class UpdateRows {
  readonly prefix: string;
  readonly #opened: () => Promise<Store>;
  readonly #options: RowOptions;
  /** All of the document, as one update. */
  readonly #state: () => Uint8Array;
  readonly #onError: (cause: unknown) => void;
  /** What the keys of this tab begin with. */
  readonly #own: string;
  #keys = 0;
  /** The bytes of each stored row, as far as is known. */
  readonly #sizes = new Map<string, number>();
  /** What is not stored yet. */
  #queue: Uint8Array[] = [];
  #writing: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;
  #waitMs = 1000;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(
    opened: () => Promise<Store>,
    prefix: string,
    options: RowOptions,
    state: () => Uint8Array,
    onError: (cause: unknown) => void,
  ) {
    this.#opened = opened;
    this.prefix = prefix;
    this.#options = options;
    this.#state = state;
    this.#onError = onError;
    this.#own = `${prefix}${uniqueName()}/`;
  }

  /** How many updates are not stored yet. */
  get pending(): number {
    return this.#queue.length;
  }

  /** Stores an update. Those of one turn, and those made while others are written, are one row. */
  add(update: Uint8Array): void {
    this.#queue.push(update);
    // Who flushes is told too.
    this.#write().catch(() => {});
  }

  /** Resolves when nothing is left to be stored. */
  async flush(): Promise<void> {
    while (this.pending > 0) await this.#write();
  }

  /** Takes what has changed; returns the rows that other tabs have added. */
  see(changes: readonly Change<Uint8Array>[]): [key: string, update: Uint8Array][] {
    const theirs: [string, Uint8Array][] = [];
    for (const change of changes) {
      const { key } = change;
      this.#sizes.delete(key);
      if (change.op === 'del') continue;
      if (key.startsWith(this.#own)) this.#sizes.set(key, change.newValue.length);
      else theirs.push([key, change.newValue]);
    }
    return theirs;
  }

  /** A row of another tab is in the document now: it may be merged with others. */
  took(key: string, update: Uint8Array): void {
    this.#sizes.set(key, update.length);
  }

  /** Compacts if it is time for that; to be called once what `see` returned is applied. */
  compactIfDue(): void {
    if (this.#isOver || this.#compacting !== undefined || !this.#isDue()) return;
    this.#compacting = this.#compact()
      .catch(this.#onError)
      .finally(() => {
        this.#compacting = undefined;
      });
  }

  /** Ends: what is queued is stored first, unless it is not `wanted`. */
  async end(wanted: boolean): Promise<void> {
    this.#isOver = true;
    try {
      if (wanted) await this.flush();
      else {
        this.#queue = [];
        await this.#writing?.catch(() => {});
      }
    } finally {
      clearTimeout(this.#timer);
      await this.#compacting;
    }
  }

  /** A new row. If it is not stored, a compaction finds that out. */
  #row(update: Uint8Array): [key: string, update: Uint8Array] {
    const key = `${this.#own}${++this.#keys}`;
    this.#sizes.set(key, update.length);
    return [key, update];
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const options = { durability: this.#options.durability };
    try {
      const db = await this.#opened();
      while (this.pending > 0) {
        // What comes meanwhile is in the next row.
        if (this.#sizes.size >= 2 * this.#options.maxRows) await this.#compacting;
        const count = this.pending;
        if (count === 0) break;
        await db.put(...this.#row(mergeUpdates(this.#queue)), options);
        this.#queue.splice(0, count);
        this.#waitMs = 1000;
        this.compactIfDue();
      }
    } catch (cause) {
      this.#onError(cause);
      // Other entries have classes of their own.
      if (!this.#isOver && (Object(cause) as HedgerowError).retryable) this.#later();
      throw cause;
    }
  }

  #later(): void {
    this.#timer = setTimeout(() => this.#write().catch(() => {}), this.#waitMs);
    this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
  }

  #isDue(): boolean {
    const { maxRows, maxBytes } = this.#options;
    let [largest, all] = [0, 0];
    for (const size of this.#sizes.values()) {
      largest = Math.max(largest, size);
      all += size;
    }
    const { size } = this.#sizes;
    return size > 1 && (size >= maxRows || all - largest >= Math.max(maxBytes, largest));
  }

  /** The rows that are to become one: from the smallest on, until the next one is larger than twice all of them. */
  #smallest(): string[] {
    const keys: string[] = [];
    let bytes = 0;
    for (const [key, size] of [...this.#sizes].sort(([, a], [, b]) => a - b)) {
      if (keys.length > 1 && size > 2 * bytes) break;
      keys.push(key);
      bytes += size;
    }
    return keys;
  }

  async #compact(): Promise<void> {
    const db = await this.#opened();
    const keys = this.#smallest();
    const isAll = keys.length === this.#sizes.size;
    const { durability } = this.#options;
    const body = async (tx: Parameters<Parameters<Store['transaction']>[0]>[0]) => {
      const updates = await tx.getMany<Uint8Array>(keys);
      const gone = keys.filter((_, at) => updates[at] === undefined);
      // Another tab was first. A row that nobody has told of is forgotten here.
      if (gone.length > 0) return gone;
      // The document also leaves out what was deleted in it.
      tx.put(...this.#row(isAll ? this.#state() : mergeUpdates(updates as Uint8Array[])));
      await tx.deleteMany(keys);
      return keys;
    };
    for (const key of await db.transaction(body, { durability })) this.#sizes.delete(key);
  }
}
