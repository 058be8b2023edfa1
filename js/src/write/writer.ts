import { disposable } from '../base/disposable.js';
import { HedgerowError } from '../base/errors.js';
import { Forgotten } from '../base/forgotten.js';
import { hex } from '../base/hex.js';
import { checkKey } from '../base/key.js';
import { turn } from '../base/scheduler.js';
import { isBytes, stringify } from '../base/value.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Durability } from '../storage/segment-store.js';
import { type Block, type Committed, Ingest, type IngestResult } from './ingest.js';

/** How a writer writes. */
export interface WriterOptions {
  /** Rows for each commit; by default there is one commit, in `finish`. */
  readonly commitEvery?: number | undefined;
  /** By default that of the store. */
  readonly durability?: Durability | undefined;
}

/** Size of the buffer: UTF-16 units of text plus bytes of byte values. */
const BUFFER_UNITS = 1 << 20;

/** Size of a block, in the same unit. A flush begins once this much is buffered. */
const BLOCK_UNITS = 1 << 18;

interface Row {
  readonly units: number;
  /** The key as JSON text. */
  readonly key: string;
  /** Absent for a delete. */
  readonly value?: string | Uint8Array;
}

/** The work of a writer. It must not reference the writer, so that a dropped writer can be garbage-collected. */
export class Flusher {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #durability: Durability;
  readonly #commitEvery: number;
  readonly #onEnd: (flusher: Flusher) => void;
  readonly #bulk: ReturnType<BranchHead['bulks']['begin']>;
  readonly #startMs = performance.now();
  #rows: Row[] = [];
  #units = 0;
  #ingest: Ingest | undefined;
  /** Rows of the next commit that were fed. */
  #uncommitted = 0;
  #flushing: Promise<void> | undefined;
  /** Flush all rows, not only full blocks. */
  #all = false;
  #failure: unknown;
  /** Why it takes no more rows. */
  #ended: string | undefined;
  readonly #total = { rows: 0, bytes: 0, chunks: 0, segments: 0, slices: 0, storageMs: 0 };
  #longestSliceMs = 0;

  /** `onEnd` is called when the writer has ended. */
  constructor(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    commitEvery: number,
    onEnd: (flusher: Flusher) => void,
  ) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#durability = durability;
    this.#commitEvery = commitEvery;
    this.#onEnd = onEnd;
    this.#bulk = branchHead.bulks.begin(false);
  }

  /** Buffers a row; returns `false` when the buffer is full or a flush has failed. */
  tryAdd(row: Row): boolean {
    this.#check();
    if (this.#failure !== undefined) return false;
    // A row larger than the buffer is buffered alone.
    if (this.#units + row.units > BUFFER_UNITS && this.#units > 0) return false;
    this.#rows.push(row);
    this.#units += row.units;
    // This row overrides earlier edits of its key.
    this.#bulk.overrides.delete(row.key);
    if (this.#units >= BLOCK_UNITS) this.#flush();
    return true;
  }

  /** Buffers a row once the buffer has space for it. */
  async add(row: Row): Promise<void> {
    while (!this.tryAdd(row)) {
      this.#throwFailure();
      await this.#flushAll();
    }
  }

  async finish(): Promise<IngestResult> {
    this.#check();
    this.#ended = 'it has finished';
    try {
      while (this.#rows.length > 0 && this.#failure === undefined) await this.#flushAll();
      this.#throwFailure();
      await this.#commit();
      const root = hex(this.#branchHead.head.commitBytes);
      const ms = performance.now() - this.#startMs;
      return { root, ms, longestSliceMs: this.#longestSliceMs, ...this.#total };
    } finally {
      await this.#drop();
    }
  }

  /** Drops rows that are not committed. */
  async abort(reason: string): Promise<void> {
    this.#ended ??= reason;
    this.#rows = [];
    this.#units = 0;
    await this.#flushing;
    await this.#drop();
  }

  #check(): void {
    if (this.#ended !== undefined) throw new HedgerowError('closed', `the writer: ${this.#ended}`);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #flushAll(): Promise<void> {
    this.#all = true;
    this.#flush();
    await this.#flushing;
  }

  #flush(): void {
    this.#flushing ??= this.#pump()
      .catch(async (cause: unknown) => {
        this.#failure = cause;
        await this.#ingest?.abandon();
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  /** Feeds full blocks; with `#all` also the rest. */
  async #pump(): Promise<void> {
    while (this.#units >= BLOCK_UNITS || (this.#all && this.#rows.length > 0)) {
      await turn();
      // The writer may have been aborted meanwhile.
      if (this.#rows.length === 0) break;
      if (this.#ingest === undefined) {
        const bulk = this.#bulk;
        this.#ingest = await Ingest.begin(this.#host, this.#branchHead, this.#durability, { bulk });
      }
      const startMs = performance.now();
      await this.#ingest.feed(this.#take(), startMs);
      if (this.#uncommitted >= this.#commitEvery) await this.#commit();
    }
    this.#all = false;
  }

  /** Takes rows of one kind for a block. */
  #take(): Block {
    const isDelete = this.#rows[0]?.value === undefined;
    const members: string[] = [];
    const values: { row: number; bytes: Uint8Array }[] = [];
    let [count, units] = [0, 0];
    for (const row of this.#rows) {
      const full = units >= BLOCK_UNITS || this.#uncommitted + count >= this.#commitEvery;
      if (full || (row.value === undefined) !== isDelete) break;
      members.push(row.key);
      if (typeof row.value === 'string') members.push(row.value);
      else if (row.value !== undefined) {
        members.push('0');
        values.push({ row: count, bytes: row.value });
      }
      units += row.units;
      count += 1;
    }
    this.#rows = this.#rows.slice(count);
    this.#units -= units;
    this.#uncommitted += count;
    const format = isDelete ? 'deletes' : 'pairs';
    return { text: `[${members.join(',')}]`, format, rows: count, values };
  }

  async #commit(): Promise<void> {
    const ingest = this.#ingest;
    if (ingest === undefined) return;
    const { chunks }: Committed = await ingest.commit();
    this.#ingest = undefined;
    this.#uncommitted = 0;
    // The next commit builds on the edits so far.
    this.#bulk.overrides.clear();
    const { rows, bytes, segments, times } = ingest;
    this.#total.rows += rows;
    this.#total.bytes += bytes;
    this.#total.chunks += chunks;
    this.#total.segments += segments;
    this.#total.slices += times.slices;
    this.#total.storageMs += times.storageMs;
    this.#longestSliceMs = Math.max(this.#longestSliceMs, times.longestSliceMs);
  }

  async #drop(): Promise<void> {
    const ingest = this.#ingest;
    this.#ingest = undefined;
    this.#bulk.end();
    this.#onEnd(this);
    await ingest?.abandon();
  }
}

const writers = new Forgotten<Flusher>((flusher) => {
  flusher.abort('it was forgotten').catch(() => {});
});

/**
 * A writer with synchronous puts: it buffers rows without a promise for each, and flushes them in
 * slices in the background. The caller awaits only a full buffer. `db.writer()` makes it.
 */
export class Writer {
  readonly #flusher: Flusher;
  /** As `abort`, for `await using`; does nothing after `finish`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  /** Call `db.writer()`. */
  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    writers.add(this, flusher);
    disposable(Writer.prototype, 'asyncDispose', Writer.prototype.abort);
  }

  /**
   * Buffers a row, copies its value at once, and returns `true`. Returns `false` without buffering
   * when the buffer is full or a flush has failed: then await `put`.
   */
  tryPut(key: string, value: unknown): boolean {
    return this.#flusher.tryAdd(rowOf(key, value));
  }

  /** As `tryPut`, but deletes a row. */
  tryDelete(key: string): boolean {
    return this.#flusher.tryAdd(deleteOf(key));
  }

  /** Buffers a row once the buffer has space; rejects with the failure of a flush. */
  async put(key: string, value: unknown): Promise<void> {
    return this.#flusher.add(rowOf(key, value));
  }

  /** As `put`, but deletes a row. */
  async delete(key: string): Promise<void> {
    return this.#flusher.add(deleteOf(key));
  }

  /** Commits all rows and ends the writer. */
  finish(): Promise<IngestResult> {
    writers.delete(this);
    return this.#flusher.finish();
  }

  /** Drops all rows that are not committed. Idempotent. */
  abort(): Promise<void> {
    writers.delete(this);
    return this.#flusher.abort('it was aborted');
  }
}

function rowOf(key: string, value: unknown): Row {
  const { key: text, units } = deleteOf(key);
  if (isBytes(value))
    return { key: text, units: units + value.length, value: new Uint8Array(value) };
  const json = stringify(value);
  return { key: text, units: units + json.length, value: json };
}

function deleteOf(key: string): Row {
  checkKey(key);
  const text = JSON.stringify(key);
  return { key: text, units: text.length };
}
