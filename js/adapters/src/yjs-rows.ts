/** Stores the updates of a Yjs document as rows, and merges many rows into one. */

import type { Change, Durability, HedgerowError, Store } from 'hedgerow';
import { uniqueName } from 'hedgerow/kit';
import { mergeUpdates } from 'yjs';

/** Options of the rows. */
export interface RowOptions {
  readonly durability?: Durability | undefined;
  /** Rows are compacted when there are so many. */
  readonly maxRows: number;
  /** Rows are also compacted when all but the largest have so many bytes, and as many as the largest. */
  readonly maxBytes: number;
}

/** The longest wait before a failed write is tried again, in milliseconds; the first wait is a second. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Updates of a document, each under a key that no other tab uses. They may be applied in any order and more than once,
 * so tabs need no lock: in one commit, a tab puts a merged row and deletes only the rows that are in it.
 */
export class UpdateRows {
  readonly prefix: string;
  readonly #opened: () => Promise<Store>;
  readonly #options: RowOptions;
  /** Returns the whole document as one update. */
  readonly #state: () => Uint8Array;
  readonly #onError: (cause: unknown) => void;
  /** The prefix of this tab's keys. */
  readonly #own: string;
  #keys = 0;
  /** The bytes of each stored row, as far as known. */
  readonly #sizes = new Map<string, number>();
  /** The updates that are not stored yet. */
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

  /** The number of updates that are not stored yet. */
  get pending(): number {
    return this.#queue.length;
  }

  /** Stores an update. Updates of one turn are one row, and so are updates that wait for a write. */
  add(update: Uint8Array): void {
    this.#queue.push(update);
    // `onError` gets the failure, and `flush` rejects with it.
    this.#write().catch(() => {});
  }

  /** Resolves when all updates are stored. */
  async flush(): Promise<void> {
    while (this.pending > 0) await this.#write();
  }

  /** Takes changes of rows; returns the rows that other tabs have added. */
  see(changes: readonly Change<Uint8Array>[]): [key: string, update: Uint8Array][] {
    const theirs: [string, Uint8Array][] = [];
    for (const change of changes) {
      const { key } = change;
      this.#sizes.delete(key);
      if (change.op === 'delete') continue;
      if (key.startsWith(this.#own)) this.#sizes.set(key, change.newValue.length);
      else theirs.push([key, change.newValue]);
    }
    return theirs;
  }

  /** Notes that a row of another tab is in the document: it may now be merged with others. */
  took(key: string, update: Uint8Array): void {
    this.#sizes.set(key, update.length);
  }

  /** Compacts if that is due. Call it once the rows that `see` returned are applied. */
  compactIfDue(): void {
    if (this.#isOver || this.#compacting !== undefined || !this.#isDue()) return;
    this.#compacting = this.#compact()
      .catch(this.#onError)
      .finally(() => {
        this.#compacting = undefined;
      });
  }

  /** Ends, and first stores the queued updates if they are `wanted`. */
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

  /** Makes a new row. If it is not stored, a compaction finds that out. */
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
        // Updates that come during a write go into the next row.
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
      // Other entries have error classes of their own.
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

  /** Chooses the rows to merge: from the smallest on, until the next one is larger than twice their sum. */
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
      // Another tab was first. This also forgets a row that was never stored.
      if (gone.length > 0) return gone;
      // The document also leaves out deleted content.
      tx.put(...this.#row(isAll ? this.#state() : mergeUpdates(updates as Uint8Array[])));
      await tx.deleteMany(keys);
      return keys;
    };
    for (const key of await db.transaction(body, { durability })) this.#sizes.delete(key);
  }
}
