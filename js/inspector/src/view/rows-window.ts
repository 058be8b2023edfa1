/** Loads the rows around the view, and counts all rows; live queries keep both up to date. */

import { type Live, type LiveCount, live, liveCount } from 'hedgerow';
import { type Order, parseSearch } from '../model/parse-row-search.js';
import type { PanelContext } from './panel-types.js';

/** A row, or an entry of an index with its secondary key. */
export type WindowRow = readonly [key: string, value: unknown, secondary?: unknown];

/** Rows that are loaded before and after the rows in view. */
const AROUND = 60;

/** The part of a range that a list shows. */
export class RowsWindow {
  readonly #context: PanelContext;
  readonly #onChange: () => void;
  #rows: Live<WindowRow> | undefined;
  #count: LiveCount | undefined;
  #order: Order;
  #text = '';
  #wanted = { from: 0, to: 0 };
  /** The loaded rows; `from` is the number of the first. */
  #here: { readonly from: number; readonly rows: readonly WindowRow[] } = { from: 0, rows: [] };

  constructor(context: PanelContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  /** Shows another range, from its start. */
  search(order: Order, text: string): void {
    this.#order = order;
    this.#text = text;
    this.#here = { from: 0, rows: [] };
    this.#wanted = { from: 0, to: AROUND * 2 };
    const { db } = this.#context.session;
    try {
      if (this.#count === undefined) {
        this.#count = liveCount(db, parseSearch(order, text));
        this.#count.subscribe(() => this.#onChange());
      } else this.#count.change(db, parseSearch(order, text));
      this.#load();
    } catch (cause) {
      // The index does not take such a value, such as null.
      this.#context.fail(cause);
    }
    this.#onChange();
  }

  /** The number of all rows; `undefined` while it is unknown. */
  get count(): number | undefined {
    const state = this.#count?.get();
    if (state === undefined || state.isStale) return undefined;
    if (state.status === 'error') this.#context.fail(state.error);
    return state.count;
  }

  /** Returns the row with a number, if it is loaded. */
  rowAt(n: number): WindowRow | undefined {
    return this.#here.rows[n - this.#here.from];
  }

  /** Returns the number of a row, if it is loaded. */
  numberOf(key: string): number | undefined {
    const at = this.#here.rows.findIndex(([one]) => one === key);
    return at < 0 ? undefined : this.#here.from + at;
  }

  /** Loads rows, unless the rows in view were wanted before. */
  want(first: number, last: number): void {
    const { from, to } = this.#wanted;
    if (first >= from && last <= to) return;
    this.#wanted = { from: Math.max(0, first - AROUND), to: last + AROUND };
    this.#load();
  }

  #load(): void {
    const { from, to } = this.#wanted;
    const range = parseSearch(this.#order, this.#text);
    const part = { offset: from, limit: to - from };
    const { db } = this.#context.session;
    if (this.#rows === undefined) {
      this.#rows =
        'index' in range ? live(db, { ...range, ...part }) : live(db, { ...range, ...part });
      this.#rows.subscribe(() => {
        if (this.#take()) this.#onChange();
      });
    } else this.#rows.change(db, { ...range, ...part });
    this.#take();
  }

  /** Takes rows that have come, unless they are of an earlier range. */
  #take(): boolean {
    const state = this.#rows?.get();
    if (state === undefined || state.isStale || state.status === 'loading') return false;
    if (state.status === 'error') this.#context.fail(state.error);
    this.#here = { from: this.#wanted.from, rows: state.rows };
    return true;
  }

  close(): void {
    this.#rows?.close();
    this.#count?.close();
  }
}
