/** Writes sysbench's OLTP scripts as statements on keys and values; the same in every run. */
import { random } from '../random.js';

export interface SysbenchRow {
  readonly id: string;
  readonly k: number;
  readonly c: string;
  readonly pad: string;
}

export type Statement =
  | { readonly op: 'get'; readonly id: string }
  | { readonly op: 'range'; readonly from: string; readonly limit: number }
  | { readonly op: 'put'; readonly row: SysbenchRow }
  | { readonly op: 'delete'; readonly id: string };

const RANGE_ROWS = 100;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

export class Workload {
  readonly #rows: number;
  readonly #next: () => number;

  constructor(rows: number, seed: number) {
    this.#rows = rows;
    this.#next = random(seed);
  }

  #below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  #text(length: number): string {
    return Array.from({ length }, () => LETTERS[this.#below(LETTERS.length)]).join('');
  }

  #row(at: number): SysbenchRow {
    const k = this.#below(this.#rows);
    return { id: idOf(at), k, c: this.#text(120), pad: this.#text(60) };
  }

  all(): SysbenchRow[] {
    const rows = Array.from({ length: this.#rows }, (_, at) => this.#row(at));
    // Concatenated strings would be ropes, whose cost the first reader pays.
    return JSON.parse(JSON.stringify(rows)) as SysbenchRow[];
  }

  id(): string {
    return idOf(this.#below(this.#rows));
  }

  get(): Statement {
    return { op: 'get', id: this.id() };
  }

  range(): Statement {
    const from = idOf(this.#below(this.#rows - RANGE_ROWS));
    return { op: 'range', from, limit: RANGE_ROWS };
  }

  update(): Statement {
    return { op: 'put', row: this.#row(this.#below(this.#rows)) };
  }

  deleteAndInsert(): Statement[] {
    const row = this.#row(this.#below(this.#rows));
    return [
      { op: 'delete', id: row.id },
      { op: 'put', row },
    ];
  }

  /** Ten points, two ranges, two updates, a row deleted and inserted. */
  readWrite(): Statement[] {
    return [
      ...this.times(10, () => this.get()),
      this.range(),
      this.range(),
      this.update(),
      this.update(),
      ...this.deleteAndInsert(),
    ];
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}

function idOf(at: number): string {
  return `sbtest/${String(at).padStart(8, '0')}`;
}
