import type { IndexProgress } from 'hedgerow';
import { barGroup } from './bars.js';
import { countryName, type IndexedStore } from './cities.js';
import { byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { type Answer, ask, askWithoutIndex, type By, type Country, callOf } from './indexes.js';
import { showTrouble } from './trouble.js';

/** Rows of the list, and of the query. */
export const LIMIT = 10;

/** The choice of a visitor. */
export interface Picked {
  readonly country: string;
  readonly by: By;
}

/** The scan of all rows waits until the visitor has stopped leafing through countries. */
const PAUSE_MS = 350;

/** The indexed query: a country and an order, and its cost with the index and without. The live list shows its rows. */
export class IndexView {
  readonly #select = byId<HTMLSelectElement>('country');
  readonly #again = byId<HTMLButtonElement>('scan-again');
  readonly #onPick: (picked: Picked) => void;
  #store: IndexedStore | undefined;
  /** The root of the last query. */
  #root = '';
  #controller = new AbortController();

  /** `onPick` is called with each choice. */
  constructor(onPick: (picked: Picked) => void) {
    this.#onPick = onPick;
    for (const input of [this.#select, ...document.querySelectorAll('input[name=by]')]) {
      input.addEventListener('change', () => this.#pick());
    }
    this.#again.addEventListener('click', () => this.#query());
  }

  get #picked(): Picked {
    const chosen = document.querySelector<HTMLInputElement>('input[name=by]:checked');
    return { country: this.#select.value, by: chosen?.value === 'name' ? 'name' : 'population' };
  }

  #pick(): void {
    if (this.#store === undefined) return;
    this.#onPick(this.#picked);
    this.#query();
  }

  /** Asks both ways again on demand: the rows have changed. */
  changed(): void {
    if (this.#store === undefined || this.#store.root === this.#root) return;
    // A scan that has begun would end among other rows.
    this.#controller.abort();
    setText('index-same', 'Rows have changed since.');
    this.#again.disabled = false;
  }

  /** Disables queries: there are no rows, or no indexes yet. */
  detach(): void {
    this.#store = undefined;
    this.#controller.abort();
    this.#select.disabled = true;
    this.#again.disabled = true;
    byId('index-costs').replaceChildren();
    for (const id of ['index-verdict', 'index-call', 'index-same']) setText(id, '');
    this.#showMade(0, 'Indexes are built once rows exist.');
  }

  /** Shows how far the indexes are made. */
  showProgress({ rows, total }: IndexProgress): void {
    const done = `${format.count(rows)} of ${format.count(total)} rows`;
    this.#showMade(rows / Math.max(total, 1), `Building two indexes in the background: ${done}`);
  }

  /** Shows that the indexes are there. */
  showMade(words: string): void {
    this.#showMade(1, words);
  }

  #showMade(part: number, words: string): void {
    const percent = Math.floor(100 * part);
    byId('index-built').style.transform = `translateX(${percent - 100}%)`;
    byId('index-building').setAttribute('aria-valuenow', String(percent));
    setText('index-progress', words);
  }

  /** Queries `store` from now on, first for `country`. */
  attach(store: IndexedStore, countries: readonly Country[], country: string): void {
    this.#store = store;
    const named = countries.map(({ code, rows }) => ({ code, rows, name: countryName(code) }));
    named.sort((a, b) => a.name.localeCompare(b.name, 'en'));
    this.#select.replaceChildren(
      ...named.map(({ code, rows, name }) =>
        make('option', { value: code }, `${name} (${format.count(rows)})`),
      ),
    );
    this.#select.value = country;
    if (this.#select.selectedIndex < 0) this.#select.selectedIndex = 0;
    this.#select.disabled = false;
    this.#pick();
  }

  #query(): void {
    const store = this.#store;
    if (store === undefined) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#run(store, signal).catch((failure: unknown) => {
      if (!signal.aborted) showTrouble(failure);
    });
  }

  async #run(store: IndexedStore, signal: AbortSignal): Promise<void> {
    const { country, by } = this.#picked;
    this.#root = store.root;
    const answer = await ask(store, country, by, LIMIT, signal);
    if (signal.aborted) return;
    const { cities, rows, ms } = answer;
    const keys = cities.map(({ id }) => id);
    figures.query = { country, by, keys, ms, rows };
    setText('index-verdict', `${format.plural(rows, 'row')} in ${format.duration(ms)}`);
    setText('index-call', `live(${callOf(country, by, LIMIT)})`);
    this.#again.disabled = true;
    setText('index-same', 'Reading every row, to compare…');
    this.#showCosts(answer, undefined);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (signal.aborted) return;
    const scanned = await askWithoutIndex(store, country, by, LIMIT, signal);
    if (signal.aborted) return;
    this.#showCosts(answer, scanned);
    this.#again.disabled = false;
    // A write in between makes them differ, and the page says so.
    const isSame = scanned.cities.every(({ id }, at) => id === keys[at]);
    figures.query.scan = { ms: scanned.ms, rows: scanned.rows, isSame };
    const faster = format.ratio(scanned.ms / ms);
    setText(
      'index-same',
      isSame
        ? `✓ The same rows both ways; the index is ${faster} faster.`
        : 'Rows changed during the measurement.',
    );
  }

  #showCosts(byIndex: Answer, scanned: Answer | undefined): void {
    const group = (
      title: string,
      measure: (answer: Answer) => number,
      text: (value: number) => string,
    ) =>
      barGroup(title, '', [
        {
          name: 'By the index',
          kind: 'ours',
          amount: scanned && measure(byIndex),
          text: text(measure(byIndex)),
        },
        {
          name: 'Without it',
          kind: 'theirs',
          amount: scanned && measure(scanned),
          text: scanned ? text(measure(scanned)) : '…',
        },
      ]);
    byId('index-costs').replaceChildren(
      group('Time', ({ ms }) => ms, format.duration),
      group('Rows read', ({ rows }) => rows, format.count),
    );
  }
}
