import type { City, CityStore } from './cities.js';
import { announce, byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import type { MatchMap } from './match-map.js';
import { ResultList } from './result-list.js';
import { forMap, search } from './search.js';
import { showTrouble } from './trouble.js';

const FIRST_QUERY = 'springfield';
const EXAMPLES = ['san', 'new', 'Łódź', 'são p', 'München', 'paris, us', 'al', 'Октябрь'];

/** A screen reader hears it only when typing has paused. */
const PAUSE_MS = 700;

/** The search box: every key typed is a query, and the chosen result is read by its key. */
export class SearchView {
  readonly #input = byId<HTMLInputElement>('query');
  readonly #map: MatchMap;
  readonly #list: ResultList;
  #store: CityStore | undefined;
  /** Ends the work for the query before. */
  #controller = new AbortController();
  #matches: readonly City[] = [];
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(map: MatchMap) {
    this.#map = map;
    this.#list = new ResultList((city) => void this.#read(city).catch(showTrouble));
    this.#input.addEventListener('input', () => this.#query());
    this.#input.addEventListener('keydown', (event) => this.#key(event));
    document.addEventListener('keydown', (event) => {
      const isTyping = (event.target as Element).matches('input, textarea');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.#input.focus();
    });
    byId('chips').append(
      ...EXAMPLES.map((text) => {
        const chip = make('button', { type: 'button', class: 'chip', disabled: '' }, text);
        chip.addEventListener('click', () => {
          this.#input.value = text;
          this.#query();
        });
        return chip;
      }),
    );
  }

  /** Searches in `store` from now on; `undefined` ends searching. `note` says which part of the rows it has. */
  attach(store: CityStore | undefined, note = ''): void {
    this.#store = store;
    setText('search-note', note);
    this.#input.disabled = store === undefined;
    for (const chip of byId('chips').querySelectorAll('button')) chip.disabled = !store;
    if (store === undefined) {
      this.#controller.abort();
      this.#clear('');
      return;
    }
    if (this.#input.value === '') this.#input.value = FIRST_QUERY;
    this.#query();
  }

  #query(): void {
    const store = this.#store;
    if (store === undefined) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.#run(store, this.#input.value, signal).catch((failure: unknown) => {
      if (!signal.aborted) showTrouble(failure);
    });
  }

  async #run(store: CityStore, typed: string, signal: AbortSignal): Promise<void> {
    if (typed.trim() === '') {
      this.#clear('Type the first letters of a city. Case and accents do not matter.');
      return;
    }
    const found = await search(store, typed);
    if (signal.aborted) return;
    const { prefix, cities, matches, scanMs, countMs } = found;
    figures.search = { typed, matches, scanMs, countMs, state: figures.state };
    setText(
      'search-times',
      `first ${cities.length} in ${format.duration(scanMs)}, all ${format.count(matches)} counted in ${format.duration(countMs)}`,
    );
    const rest = matches - cities.length;
    if (matches === 0) setText('search-rest', `No key begins with “${prefix}”.`);
    else setText('search-rest', rest > 0 ? `and ${format.count(rest)} more` : '');
    this.#matches = cities;
    this.#list.show(cities, prefix);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(
      () => announce(matches === 1 ? '1 city found' : `${format.count(matches)} cities found`),
      PAUSE_MS,
    );
    await this.#fillMap(store, prefix, matches, signal);
  }

  async #fillMap(store: CityStore, prefix: string, matches: number, signal: AbortSignal) {
    const onMap = await forMap(store, prefix, signal);
    if (signal.aborted) return;
    this.#matches = onMap;
    this.#map.show(onMap, this.#chosen);
    const all = onMap.length === matches ? '' : ` of ${format.count(matches)}`;
    setText('match-caption', `${format.plural(onMap.length, 'match', 'matches')}${all} on the map`);
  }

  #chosen: City | undefined;

  /** Reads the chosen city by its key, as an app would. */
  async #read(city: City | undefined): Promise<void> {
    this.#chosen = city;
    this.#map.show(this.#matches, city);
    const store = this.#store;
    if (city === undefined || store === undefined) {
      setText('row-call', '');
      setText('row-json', '');
      return;
    }
    const startMs = performance.now();
    const value = await store.cities.get(city.id);
    const ms = performance.now() - startMs;
    if (this.#chosen !== city) return;
    byId('row-call').replaceChildren(
      make('code', {}, `await db.cities.get('${city.id}')`),
      ` ${format.duration(ms)}`,
    );
    setText('row-json', JSON.stringify(value, null, 2));
  }

  #clear(words: string): void {
    this.#matches = [];
    this.#list.show([], '');
    this.#map.show([], undefined);
    setText('search-times', '');
    setText('search-rest', words);
    setText('match-caption', '');
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') this.#list.move(1);
    else if (event.key === 'ArrowUp') this.#list.move(-1);
    else if (event.key === 'Escape') {
      this.#input.value = '';
      this.#query();
    } else return;
    event.preventDefault();
  }
}
