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
  /** Commits after so many rows each; by default once, in `finish`. */
  readonly commitEvery?: number | undefined;
  /** Instead of the store's. */
  readonly durability?: Durability | undefined;
}

/** A full buffer: UTF-16 units of text and bytes of byte values. */
const BUFFER_UNITS = 1 << 20;

/** What is fed in one slice, in the same unit; a flush begins when there is so much. */
const BLOCK_UNITS = 1 << 18;

interface Row {
  readonly units: number;
  /** The key as JSON text. */
  readonly key: string;
  /** Absent when the row is to be deleted. */
  readonly value?: string | Uint8Array;
}

/** What lives on while rows are flushed: it must not hold the writer, which may be forgotten. */
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
  /** Rows of the commit under way. */
  #uncommitted = 0;
  #flushing: Promise<void> | undefined;
  /** All rows are to be flushed, not only full blocks. */
  #all = false;
  #failure: unknown;
  /** Why no more rows are taken. */
  #ended: string | undefined;
  readonly #total = { rows: 0, bytes: 0, chunks: 0, segments: 0, slices: 0, storageMs: 0 };
  #longestSliceMs = 0;

  /** `onEnd` is called once, when nothing is left of it. */
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

  /** Buffers a row, or says no. */
  tryAdd(row: Row): boolean {
    this.#check();
    if (this.#failure !== undefined) return false;
    // A row larger than the buffer has it for itself.
    if (this.#units + row.units > BUFFER_UNITS && this.#units > 0) return false;
    this.#rows.push(row);
    this.#units += row.units;
    // Of edits that came before this row it is the last word.
    this.#bulk.overrides.delete(row.key);
    if (this.#units >= BLOCK_UNITS) this.#flush();
    return true;
  }

  /** Buffers a row when there is room for it. */
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

  /** Drops what is not committed. */
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

  /** Feeds blocks while there are full ones; when all is to go, the rest as well. */
  async #pump(): Promise<void> {
    while (this.#units >= BLOCK_UNITS || (this.#all && this.#rows.length > 0)) {
      await turn();
      // It may have been aborted meanwhile.
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
    // The next commit begins on top of the edits so far.
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
 * The synchronous-first writer: rows are buffered without a promise for each, and flushed in
 * slices behind the caller's back. Only when the buffer is full is there something to await.
 *
 * Made by `db.writer()`.
 */
export class Writer {
  readonly #flusher: Flusher;
  /** As `abort`, for `await using`: after `finish` it does nothing. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  /** Call `db.writer()`. */
  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    writers.add(this, flusher);
    disposable(Writer.prototype, 'asyncDispose', Writer.prototype.abort);
  }

  /**
   * Buffers a row and returns `true`; returns `false`, with nothing buffered, when the buffer
   * is full or a flush has failed: then await `put`. The value is taken as it is now.
   */
  tryPut(key: string, value: unknown): boolean {
    return this.#flusher.tryAdd(rowOf(key, value));
  }

  /** As `tryPut`, for a row to be deleted. */
  tryDelete(key: string): boolean {
    return this.#flusher.tryAdd(deleteOf(key));
  }

  /** Buffers a row as soon as there is room, or rejects with what made a flush fail. */
  async put(key: string, value: unknown): Promise<void> {
    return this.#flusher.add(rowOf(key, value));
  }

  /** As `put`, for a row to be deleted. */
  async delete(key: string): Promise<void> {
    return this.#flusher.add(deleteOf(key));
  }

  /** Commits all rows. The writer is then of no more use. */
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
