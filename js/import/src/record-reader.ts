/** Reads a source in parts of about equal size, one part ahead. */

import { until } from 'hedgerow/kit';
import { sizeOf } from './foreign-values.js';
import type { OpenRecords, RecordBatch } from './types.js';

/** Limits of one read: it is a transaction in the old database, and makes its values in one step. */
const READ_BYTES = 256 << 10;
const MAX_READ = 1000;
/** Limit of the first read, which does not know the size of records. */
const FIRST_READ = 32;

/** Limits of one commit. */
const BATCH_BYTES = 1 << 20;
const MAX_BATCH = 4000;

export interface SizedBatch extends RecordBatch {
  readonly bytes: number;
}

export class RecordReader {
  readonly #source: OpenRecords;
  readonly #signal: AbortSignal | undefined;
  #limit = FIRST_READ;
  #ahead: Promise<RecordBatch>;

  constructor(source: OpenRecords, after: string, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
    this.#ahead = this.#read(after);
  }

  #read(after: string): Promise<RecordBatch> {
    const reading = this.#source.read(after, this.#limit);
    // It may fail before a caller waits for it.
    reading.catch(() => {});
    return reading;
  }

  /** Waits for the part that is read ahead: a source reads one part at a time. */
  async end(): Promise<void> {
    await until(this.#ahead, this.#signal).catch(() => {});
  }

  /** Reads the records of one commit. */
  async next(): Promise<SizedBatch> {
    const records: RecordBatch['records'][number][] = [];
    let bytes = 0;
    for (;;) {
      const read = await until(this.#ahead, this.#signal);
      let size = 0;
      for (const [, value] of read.records) size += sizeOf(value);
      records.push(...read.records);
      bytes += size;
      const { next, isLast } = read;
      if (!isLast) {
        const fitting = Math.floor((READ_BYTES * read.records.length) / Math.max(size, 1));
        // Small records do not promise small next ones.
        this.#limit = Math.max(1, Math.min(fitting, 4 * this.#limit, MAX_READ));
        this.#ahead = this.#read(next);
      }
      if (isLast || bytes >= BATCH_BYTES || records.length >= MAX_BATCH) {
        return { records, bytes, next, isLast };
      }
    }
  }
}
