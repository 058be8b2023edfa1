/** Turns what `putMany` is given into blocks of rows, each as much as fits in a slice. */
import { HedgerowError } from '../base/errors.js';
import { checkKey } from '../base/key.js';
import { kindOf } from '../base/kind.js';
import { Pace } from '../base/scheduler.js';
import { checkKept, isBytes, stringify } from '../base/value.js';
import { ROWS_IN_MS } from '../core/speed.js';
import type { Block } from './ingest.js';

/** Where the key of a row is: at a JSON pointer, or what a function makes of it. */
export type KeyOf<Row> = string | ((row: Row) => string);

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

  /**
   * Rows of `deletes` are keys; of `patch`, operations; of `rows`, anything that `keyOf` points
   * into.
   */
  constructor(format: Block['format'], keyOf: KeyOf<Row> | undefined, sliceMs: number) {
    this.#format = format;
    this.#keyOf = keyOf;
    this.#sliceMs = sliceMs;
    this.#pace = new Pace(sliceMs, ROWS_IN_MS);
  }

  /** Rows gathered for the next block. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a row; `true` when the block is full. */
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
    // What JSON has no word for becomes `null`, which has no key.
    this.#members.push(row);
  }

  #addPair(row: Row): void {
    const at = this.#first + this.#rows;
    const [key, value] = this.#split(row, at);
    if (typeof key !== 'string') checkKey(key, at);
    this.#members.push(key, this.#valueOf(value, at));
  }

  /** What stands for a value in the text. */
  #valueOf(value: unknown, at: number): unknown {
    if (!isBytes(value, at)) return value;
    // A copy, and not by `slice`, which for a Node `Buffer` is a view: buffers are reused.
    this.#values.push({ row: this.#rows, bytes: new Uint8Array(value) });
    this.#valueBytes += value.length;
    return 0;
  }

  #addOperation(row: unknown): void {
    const at = this.#first + this.#rows;
    // What is no operation is refused by the core.
    const { op, key, value, newValue, merge, constrain, oldValue, secondary } = Object(
      row,
    ) as Record<string, unknown>;
    const isChange = op === 'add' || op === 'change';
    if (isChange || op === 'put' || op === 'update' || op === 'del') {
      if (typeof key !== 'string') checkKey(key, at);
    }
    if (op === 'put') this.#members.push({ op, key, value: this.#valueOf(value, at) });
    else if (op === 'update') this.#members.push({ op, key, merge, constrain });
    else {
      // Of the last two the core asks only whether they are there.
      const put = isChange ? this.#valueOf(newValue, at) : undefined;
      this.#members.push({
        op,
        key,
        newValue: put,
        oldValue: oldValue && 0,
        secondary: secondary && 0,
      });
    }
  }

  #split(row: Row, at: number): readonly [unknown, unknown] {
    if (typeof this.#keyOf === 'function') return [this.#keyOf(row), row];
    const isArray = Array.isArray(row);
    // A third member would be lost.
    if (isArray && row.length <= 2) return [row[0], row[1]];
    const [code, what] = isArray
      ? (['invalid-row', `an array of ${row.length}`] as const)
      : (['invalid-key', kindOf(row)] as const);
    throw new HedgerowError(code, `row ${at}: not [key, value] but ${what}`, { row: at });
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
      const text = JSON.stringify(this.#members);
      this.#check(checkKept);
      return text;
    } catch (cause) {
      if (cause instanceof HedgerowError) throw cause;
      // One of them is to blame: which?
      this.#check(stringify);
      throw new HedgerowError('invalid-value', 'JSON cannot hold these rows together', { cause });
    }
  }

  /** Calls `check` with each value, or row, and its position. */
  #check(check: (value: unknown, row: number) => unknown): void {
    const members = this.#members;
    const format = this.#format;
    if (format === 'deletes') return;
    const step = format === 'pairs' ? 2 : 1;
    for (let row = 0; row < this.#rows; row++) {
      const member = members[row * step + step - 1];
      // A row that is no object has no key: the core says so.
      if (format !== 'rows' || typeof member === 'object') check(member, this.#first + row);
    }
  }

  /** Learns that a block of `rows` took `ms` of a slice. */
  learn(rows: number, ms: number): void {
    this.#pace.learn(rows, ms);
  }
}
