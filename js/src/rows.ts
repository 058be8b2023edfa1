/** Turns what `putMany` is given into blocks of rows, each as much as fits in a slice. */
import { HedgerowError } from './errors.js';
import type { Block } from './ingest.js';
import { checkKey, kindOf } from './key.js';
import { Pace } from './scheduler.js';
import { checkValue, isBytes, stringify } from './value.js';

/** Where the key of a row is: at a JSON pointer, or what a function makes of it. */
export type KeyOf<Row> = string | ((row: Row) => string);

/** Rows in a millisecond on a slow machine. */
const FIRST_PACE = 16;

/** Bytes of byte values after which a block ends. */
const MAX_BLOCK_BYTES = 1 << 20;

/** How often the clock is read while rows are taken. */
const CLOCK_ROWS = 64;

/** Gathers rows into blocks. */
export class RowGatherer<Row> {
  readonly #format: Block['format'];
  readonly #keyOf: KeyOf<Row> | undefined;
  readonly #pace: Pace;
  readonly #sliceMs: number;
  #members: unknown[] = [];
  #values: { row: number; bytes: Uint8Array }[] = [];
  #rows = 0;
  #valueBytes = 0;
  #first = 0;
  #startMs = 0;

  /** Rows of `deletes` are keys; of `rows`, anything that `keyOf` points into. */
  constructor(format: Block['format'], keyOf: KeyOf<Row> | undefined, sliceMs: number) {
    this.#format = format;
    this.#keyOf = keyOf;
    this.#sliceMs = sliceMs;
    this.#pace = new Pace(sliceMs, FIRST_PACE);
  }

  /** Rows gathered for the next block. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a row; `true` when the block is full. */
  add(row: Row): boolean {
    if (this.#rows === 0) this.#startMs = performance.now();
    if (this.#format === 'pairs') this.#addPair(row);
    else this.#addRow(row);
    this.#rows += 1;
    return (
      this.#rows >= this.#pace.units ||
      this.#valueBytes >= MAX_BLOCK_BYTES ||
      (this.#rows % CLOCK_ROWS === 0 && performance.now() - this.#startMs > this.#sliceMs / 2)
    );
  }

  #addRow(row: Row): void {
    if (this.#format === 'deletes') checkKey(row, this.#first + this.#rows);
    // What JSON has no word for becomes `null`, which has no key.
    this.#members.push(row);
  }

  #addPair(row: Row): void {
    const at = this.#first + this.#rows;
    const [key, value] = this.#split(row, at);
    if (typeof key !== 'string') checkKey(key, at);
    if (isBytes(value, at)) {
      // A copy, and not by `slice`, which for a Node `Buffer` is a view: buffers are reused.
      this.#values.push({ row: this.#rows, bytes: new Uint8Array(value) });
      this.#valueBytes += value.length;
      this.#members.push(key, 0);
    } else {
      this.#members.push(key, checkValue(value, at));
    }
  }

  #split(row: Row, at: number): readonly [unknown, unknown] {
    if (typeof this.#keyOf === 'function') return [this.#keyOf(row), row];
    if (Array.isArray(row)) return [row[0], row[1]];
    throw new HedgerowError('invalid-key', `row ${at}: not [key, value] but ${kindOf(row)}`, {
      row: at,
    });
  }

  /** Takes what was gathered as a block. */
  take(): Block {
    const block: Block = {
      text: this.#text(),
      format: this.#format,
      rows: this.#rows,
      values: this.#values,
    };
    this.#first += this.#rows;
    this.#members = [];
    this.#values = [];
    this.#rows = 0;
    this.#valueBytes = 0;
    return block;
  }

  #text(): string {
    try {
      return JSON.stringify(this.#members);
    } catch {
      // One of them is to blame: which?
      const step = this.#members.length / this.#rows;
      for (const [index, member] of this.#members.entries()) {
        stringify(member, this.#first + Math.floor(index / step));
      }
      throw new HedgerowError('invalid-value', 'JSON cannot hold these rows together');
    }
  }

  /** Learns that a block of `rows` took `ms` of a slice. */
  learn(rows: number, ms: number): void {
    this.#pace.learn(rows, ms);
  }
}
