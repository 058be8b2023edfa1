import { countFrom, durabilityCheck, type OptionsOf } from '../../base/check-options.js';
import { isBytes, stringify } from '../../base/check-value.js';
import { disposable } from '../../base/disposable.js';
import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import { ReleaseRegistry } from '../../base/finalization-registry.js';
import { checkKey } from '../../base/key.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import type { WriteResult } from './ingest.js';
import {
  BLOCK_UNITS,
  type BufferedRow,
  type WriterBuffer,
  type WriterContext,
} from './writer-buffer-types.js';
import type { WriterCommits } from './writer-commits.js';

/** Loads the code that commits, when a writer first has rows to write. */
export const loadWriter = () => part(() => import('./writer-commits.js'));

export const WRITER_OPTIONS = {
  /** The rows of each commit; by default `close` makes the only commit. */
  commitEvery: countFrom(1),
  /** The durability of the store by default. */
  durability: durabilityCheck,
};

/** Options of a writer. */
export interface WriterOptions extends OptionsOf<typeof WRITER_OPTIONS> {}

/** The size of the buffer: UTF-16 units of text plus bytes of byte values. */
const BUFFER_UNITS = 1 << 20;

/** The buffer of a writer. It must not reference the writer: else a dropped writer is never garbage-collected. */
export class Flusher implements WriterBuffer {
  readonly context: WriterContext;
  rows: BufferedRow[] = [];
  units = 0;
  isAll = false;
  readonly #onEnd: (flusher: Flusher) => void;
  #commits: WriterCommits | undefined;
  #flushing: Promise<void> | undefined;
  #failure: unknown;
  /** The reason why the writer takes no more rows. */
  #ended: string | undefined;

  /** `onEnd` is called when the writer has ended. */
  constructor(
    host: Host,
    branchHead: BranchHead,
    durability: Durability,
    commitEvery: number,
    onEnd: (flusher: Flusher) => void,
  ) {
    const [bulk, startMs] = [branchHead.bulks.begin(false), performance.now()];
    this.context = { host, branchHead, durability, commitEvery, bulk, startMs };
    this.#onEnd = onEnd;
  }

  /** Buffers a row; returns `false` when the buffer is full or a flush has failed. */
  tryAdd(row: BufferedRow): boolean {
    this.#check();
    if (this.#failure !== undefined) return false;
    // A row larger than the buffer is buffered alone.
    if (this.units + row.units > BUFFER_UNITS && this.units > 0) return false;
    this.rows.push(row);
    this.units += row.units;
    // This row overrides earlier edits of its key.
    this.context.bulk.overrides.delete(row.key);
    if (this.units >= BLOCK_UNITS) void this.#flush();
    return true;
  }

  /** Buffers a row once the buffer has space for it. */
  async add(row: BufferedRow): Promise<void> {
    while (!this.tryAdd(row)) await this.#flushAll();
  }

  async finish(): Promise<WriteResult> {
    this.#check();
    this.#ended = 'it was closed';
    try {
      do await this.#flushAll();
      while (this.rows.length > 0);
      return await (await this.#load()).finish();
    } finally {
      await this.#drop();
    }
  }

  /** Drops rows that are not committed. */
  async abort(reason: string): Promise<void> {
    this.#ended ??= reason;
    this.rows = [];
    this.units = 0;
    // Without its code there is no commit to wait for, and its load may take long.
    if (this.#commits !== undefined) await this.#flushing;
    await this.#drop();
  }

  #check(): void {
    if (this.#ended !== undefined) throw new HedgerowError('closed', `the writer: ${this.#ended}`);
  }

  async #flushAll(): Promise<void> {
    if (this.#failure === undefined) {
      this.isAll = true;
      await this.#flush();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #load(): Promise<WriterCommits> {
    const { WriterCommits } = await loadWriter();
    this.#commits ??= new WriterCommits(this);
    return this.#commits;
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#load()
      .then((commits) => commits.pump())
      .catch((cause: unknown) => {
        this.#failure = cause;
        return this.#commits?.abandon();
      })
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }

  async #drop(): Promise<void> {
    this.context.bulk.end();
    this.#onEnd(this);
    await this.#commits?.abandon();
  }
}

const writers = new ReleaseRegistry<Flusher>((flusher) => {
  flusher.abort('it was forgotten').catch(() => {});
});

/**
 * A writer with synchronous puts: it buffers rows without a promise for each, and flushes them in slices in the
 * background. The caller awaits only a full buffer. `db.writer()` makes it.
 */
export class Writer {
  readonly #flusher: Flusher;
  /** As `abort`, for `await using`; has no effect after `close`. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  /** Call `db.writer()`. */
  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    writers.add(this, flusher);
    disposable(Writer.prototype, 'asyncDispose', Writer.prototype.abort);
  }

  /**
   * Buffers a row, copies its value at once, and returns `true`. Returns `false` without buffering when the buffer is
   * full or a flush has failed: then await `put`.
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
  close(): Promise<WriteResult> {
    writers.delete(this);
    return this.#flusher.finish();
  }

  /** Drops all rows that are not committed. Idempotent. */
  abort(): Promise<void> {
    writers.delete(this);
    return this.#flusher.abort('it was aborted');
  }
}

function rowOf(key: string, value: unknown): BufferedRow {
  const { key: text, units } = deleteOf(key);
  if (isBytes(value))
    return { key: text, units: units + value.length, value: new Uint8Array(value) };
  const json = stringify(value);
  return { key: text, units: units + json.length, value: json };
}

function deleteOf(key: string): BufferedRow {
  checkKey(key);
  const text = JSON.stringify(key);
  return { key: text, units: text.length };
}
