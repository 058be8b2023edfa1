import type { IndexProgress } from 'hedgerow';
import { barGroup } from './bars.js';
import { countryName, type IndexedStore } from './cities.js';
import { byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { type Answer, ask, askWithoutIndex, type By, type Country, callOf } from './indexes.js';
import { RankList } from './rank-list.js';
import { showTrouble } from './trouble.js';

const LIMIT = 10;

/** The long way is not gone while somebody leafs through countries. */
const PAUSE_MS = 350;

/** The indexed query: a country and an order, the first rows, and what both ways have cost. */
export class IndexView {
  readonly #select = byId<HTMLSelectElement>('country');
  readonly #rows = new RankList(byId('index-rows'));
  readonly #again = byId<HTMLButtonElement>('scan-again');
  readonly #onCountry: (country: string) => void;
  #store: IndexedStore | undefined;
  #controller = new AbortController();

  /** `onCountry` hears of every country that is picked. */
  constructor(onCountry: (country: string) => void) {
    this.#onCountry = onCountry;
    this.#select.addEventListener('change', () => {
      this.#onCountry(this.country);
      this.#query();
    });
    for (const input of document.querySelectorAll('input[name=by]')) {
      input.addEventListener('change', () => this.#query());
    }
    this.#again.addEventListener('click', () => this.#query());
  }

  /** The country that is picked. */
  get country(): string {
    return this.#select.value;
  }

  get #by(): By {
    const chosen = document.querySelector<HTMLInputElement>('input[name=by]:checked');
    return chosen?.value === 'name' ? 'name' : 'population';
  }

  /** The rows have changed: the index is asked again, and the long way when somebody wants it. */
  changed(): void {
    this.#query(false);
  }

  /** Nothing can be asked: there are no rows, or no indexes yet. */
  detach(): void {
    this.#store = undefined;
    this.#controller.abort();
    this.#rows.show([]);
    this.#select.disabled = true;
    this.#again.disabled = true;
    byId('index-costs').replaceChildren();
    for (const id of ['index-verdict', 'index-call', 'index-same']) setText(id, '');
    this.#showMade(0, 'Indexes are built once rows exist.');
  }

  /** How far the indexes are made. */
  showProgress({ rows, total }: IndexProgress): void {
    const done = `${format.count(rows)} of ${format.count(total)} rows`;
    this.#showMade(rows / Math.max(total, 1), `Building two indexes in the background: ${done}`);
  }

  /** They are there. */
  showMade(words: string): void {
    this.#showMade(1, words);
  }

  #showMade(part: number, words: string): void {
    const percent = Math.floor(100 * part);
    byId('index-built').style.transform = `translateX(${percent - 100}%)`;
    byId('index-building').setAttribute('aria-valuenow', String(percent));
    setText('index-progress', words);
  }

  /** Asks `store` from now on, first for `country`. */
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
    this.#onCountry(this.country);
    this.#query();
  }

  #query(isMeasured = true): void {
    const store = this.#store;
    if (store === undefined) return;
    // A long way that has begun would end among other rows.
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#run(store, isMeasured, signal).catch((failure: unknown) => {
      if (!signal.aborted) showTrouble(failure);
    });
  }

  async #run(store: IndexedStore, isMeasured: boolean, signal: AbortSignal): Promise<void> {
    const [country, by] = [this.country, this.#by];
    const answer = await ask(store, country, by, LIMIT, signal);
    if (signal.aborted) return;
    const { cities, rows, ms } = answer;
    const keys = cities.map(({ id }) => id);
    figures.query = { country, by, keys, ms, rows };
    this.#rows.show(cities);
    setText('index-verdict', `${format.plural(rows, 'row')} in ${format.duration(ms)}`);
    setText('index-call', callOf(country, by, LIMIT));
    this.#again.disabled = isMeasured;
    if (!isMeasured) {
      setText('index-same', 'Rows have changed since.');
      return;
    }
    setText('index-same', 'Reading every row, to compare…');
    this.#showCosts(answer, undefined);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (signal.aborted) return;
    const scanned = await askWithoutIndex(store, country, by, LIMIT, signal);
    if (signal.aborted) return;
    this.#showCosts(answer, scanned);
    this.#again.disabled = false;
    // A write in between makes them differ, and is said.
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
