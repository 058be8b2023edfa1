/** Turns what `putMany` is given into blocks of rows, each as much as fits in a slice. */
import { HedgerowError } from './errors.js';
import type { Block } from './ingest.js';
import { checkKey, kindOf } from './key.js';
import { Pace } from './scheduler.js';
import { ROWS_IN_MS } from './speed.js';
import { checkValue, isBytes, stringify } from './value.js';

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
    if (!isBytes(value, at)) return checkValue(value, at);
    // A copy, and not by `slice`, which for a Node `Buffer` is a view: buffers are reused.
    this.#values.push({ row: this.#rows, bytes: new Uint8Array(value) });
    this.#valueBytes += value.length;
    return 0;
  }

  #addOperation(row: unknown): void {
    const at = this.#first + this.#rows;
    // What is no operation is refused by the core.
    const { op, key, value, merge, constrain } = Object(row) as Record<string, unknown>;
    const isPut = op === 'put';
    if (isPut || op === 'update' || op === 'del') {
      if (typeof key !== 'string') checkKey(key, at);
    }
    if (isPut) this.#members.push({ op, key, value: this.#valueOf(value, at) });
    else if (op !== 'update') this.#members.push({ op, key });
    else {
      const object = merge === undefined ? merge : checkValue(merge, at);
      this.#members.push({ op, key, merge: object, constrain });
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
