/** Turns the rows of `putMany` into blocks that fit in a slice. */

import { checkKept, isBytes, stringify } from '../../base/check-value.js';
import { HedgerowError } from '../../base/errors.js';
import { checkKey } from '../../base/key.js';
import { kindOf } from '../../base/runtime-type-checks.js';
import { SlicePace } from '../../base/slice-queue.js';
import { ROWS_IN_MS } from '../../core/assumed-speed.js';
import type { Block } from './ingest.js';

/** A JSON pointer to the key of a row, or a function of the row. */
export type KeySelector<Row> = string | ((row: Row) => string);

/** Bytes of byte values after which a block ends. */
const MAX_BLOCK_BYTES = 1 << 20;

/** Rows between two reads of the clock. */
const CLOCK_ROWS = 64;

/** Gathers rows into blocks. */
export class RowGatherer<Row> {
  readonly #format: Block['format'];
  readonly #keyOf: KeySelector<Row> | undefined;
  readonly #pace: SlicePace;
  readonly #sliceMs: number;
  #members: unknown[] = [];
  #values: { row: number; bytes: Uint8Array }[] = [];
  #rows = 0;
  #valueBytes = 0;
  #first = 0;
  #startMs = 0;

  /**
   * Rows of the format `deletes` are keys, rows of `patch` are operations, and rows of `rows` are values that `keyOf`
   * points into.
   */
  constructor(format: Block['format'], keyOf: KeySelector<Row> | undefined, sliceMs: number) {
    this.#format = format;
    this.#keyOf = keyOf;
    this.#sliceMs = sliceMs;
    this.#pace = new SlicePace(sliceMs, ROWS_IN_MS);
  }

  /** The number of rows in the next block. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a row; returns `true` when the block is full. */
  add(row: Row): boolean {
    if (this.#rows === 0) this.#startMs = performance.now();
    if (this.#format === 'pairs') this.#addPair(row);
    else if (this.#format === 'patch') this.#addOperation(row);
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
    // A row that JSON cannot represent becomes `null`, which has no key.
    this.#members.push(row);
  }

  #addPair(row: Row): void {
    const at = this.#first + this.#rows;
    const [key, value] = this.#split(row, at);
    if (typeof key !== 'string') checkKey(key, at);
    this.#members.push(key, this.#valueOf(value, at));
  }

  /** Returns the value to write in the text: a placeholder for bytes, which follow the text. */
  #valueOf(value: unknown, at: number): unknown {
    if (!isBytes(value, at)) return value;
    // Copy: callers reuse buffers. Not by `slice`, which makes a view of a Node `Buffer`.
    this.#values.push({ row: this.#rows, bytes: new Uint8Array(value) });
    this.#valueBytes += value.length;
    return 0;
  }

  #addOperation(row: unknown): void {
    const at = this.#first + this.#rows;
    // The core refuses a row that is not an operation.
    const { op, key, value, newValue, merge, constrain, unset, oldValue, secondary } = Object(
      row,
    ) as Record<string, unknown>;
    const isChange =
      /^(insert|add|change)$/.test(op as string) || (op === 'update' && newValue !== undefined);
    if (isChange || op === 'put' || op === 'update' || op === 'delete' || op === 'del') {
      if (typeof key !== 'string') checkKey(key, at);
    }
    if (op === 'put') this.#members.push({ op, key, value: this.#valueOf(value, at) });
    else if (op === 'update' && !isChange) {
      // The core refuses a change that has lost its new value.
      const mark = oldValue === undefined ? undefined : 0;
      this.#members.push({ op, key, merge, constrain, unset, oldValue: mark });
    } else if (op === 'clear') {
      // The core only checks whether it names a key or a bound.
      const names = Object.keys(row as object).map((name) => [name, 0]);
      this.#members.push({ ...Object.fromEntries(names), op });
    } else {
      // The core only checks whether the others exist.
      const put = isChange ? this.#valueOf(newValue, at) : undefined;
      const others = { oldValue, secondary, merge, constrain, unset };
      const existing = Object.entries(others).filter(([, one]) => one !== undefined);
      const marks = existing.map(([name]) => [name, 0]);
      this.#members.push({ op, key, newValue: put, ...Object.fromEntries(marks) });
    }
  }

  #split(row: Row, at: number): readonly [unknown, unknown] {
    if (typeof this.#keyOf === 'function') return [this.#keyOf(row), row];
    const isArray = Array.isArray(row);
    // Refuse a third member: it would be lost.
    if (isArray && row.length <= 2) return [row[0], row[1]];
    const [code, what] = isArray
      ? (['invalid-data/row', `an array of ${row.length}`] as const)
      : (['invalid-argument/key', kindOf(row)] as const);
    throw new HedgerowError(code, `row ${at}: not [key, value] but ${what}`, { row: at });
  }

  /** Returns the gathered rows as a block, and begins the next one. */
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
      const text = JSON.stringify(this.#members);
      this.#check(checkKept);
      return text;
    } catch (cause) {
      if (cause instanceof HedgerowError) throw cause;
      // Find the failed row, and report it.
      this.#check(stringify);
      throw new HedgerowError('invalid-argument/value', 'JSON cannot hold these rows together', {
        cause,
      });
    }
  }

  /** Calls `check` with each value (or row) and its position. */
  #check(check: (value: unknown, row: number) => unknown): void {
    const members = this.#members;
    const format = this.#format;
    if (format === 'deletes') return;
    const step = format === 'pairs' ? 2 : 1;
    for (let row = 0; row < this.#rows; row++) {
      const member = members[row * step + step - 1];
      // The core refuses a row that is not an object: it has no key.
      if (format !== 'rows' || typeof member === 'object') check(member, this.#first + row);
    }
  }

  /** Records that a block of `rows` took `ms` milliseconds. */
  learn(rows: number, ms: number): void {
    this.#pace.learn(rows, ms);
  }
}
