/** Rows around those in view, and how many there are in all; both are kept up to date by `hedgerow/live`. */

import { type Live, type LiveCount, live, liveCount } from '../../live/index.js';
import { type Order, parseSearch } from '../model/search.js';
import type { PanelContext } from './context.js';

/** A row, or an entry of an index with its secondary key. */
export type WindowRow = readonly [key: string, value: unknown, secondary?: unknown];

/** Rows that are loaded before and after those in view. */
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
  /** The rows that are here, from the number of the first. */
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
      // Of an index that does not take such a value, such as null.
      this.#context.fail(cause);
    }
    this.#onChange();
  }

  /** How many there are in all; `undefined` while that is not known. */
  get count(): number | undefined {
    const state = this.#count?.get();
    if (state === undefined || state.isStale) return undefined;
    if (state.status === 'error') this.#context.fail(state.error);
    return state.count;
  }

  /** The row with a number, if it is here. */
  rowAt(n: number): WindowRow | undefined {
    return this.#here.rows[n - this.#here.from];
  }

  /** The number of a row, if it is here. */
  numberOf(key: string): number | undefined {
    const at = this.#here.rows.findIndex(([one]) => one === key);
    return at < 0 ? undefined : this.#here.from + at;
  }

  /** Has rows loaded if those in view are not. */
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

  /** Takes what has come, unless it is of the rows that were wanted before. */
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
