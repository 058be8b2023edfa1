import type { City } from './cities.js';
import { make, prefersStillness } from './elements.js';
import * as format from './format.js';

const MOVE_MS = 380;
const FLASH = 'flash';

/** The options of a list. */
export interface RankOptions {
  /** Gets the typed population; without it the list has no input. */
  readonly onEdit?: (city: City, population: number) => void;
}

/** The look of the rows. */
export interface Shown {
  /** Keys of rows that flash. */
  readonly changed?: ReadonlySet<string>;
}

/** The first cities of a country, as a list whose rows move and flash when they change. */
export class RankList {
  readonly #list: HTMLElement;
  readonly #onEdit: RankOptions['onEdit'];
  readonly #rows = new Map<string, HTMLElement>();
  readonly #cities = new Map<string, City>();

  constructor(list: HTMLElement, { onEdit }: RankOptions = {}) {
    this.#list = list;
    this.#onEdit = onEdit;
  }

  /** Shows cities. A row that was there before keeps its element, which moves to its place. */
  show(cities: readonly City[], { changed }: Shown = {}): void {
    const tops = new Map([...this.#rows].map(([key, row]) => [key, row.offsetTop]));
    const gone = new Set(this.#rows.keys());
    this.#cities.clear();
    for (const [index, city] of cities.entries()) {
      gone.delete(city.id);
      this.#cities.set(city.id, city);
      const row = this.#rows.get(city.id) ?? this.#make(city.id);
      this.#fill(row, index + 1, city);
      // Moved only where it must be: a moved element loses the focus.
      const at = this.#list.children[index];
      if (at !== row) this.#list.insertBefore(row, at ?? null);
    }
    for (const key of gone) {
      this.#rows.get(key)?.remove();
      this.#rows.delete(key);
    }
    for (const [key, row] of this.#rows) {
      if (changed?.has(key)) flash(row);
      const from = tops.get(key);
      if (from !== undefined) slide(row, from - row.offsetTop);
    }
  }

  #make(key: string): HTMLElement {
    const people = this.#onEdit
      ? make('input', { class: 'people', inputmode: 'numeric', autocomplete: 'off' })
      : make('span', { class: 'people' });
    const row = make(
      'li',
      {},
      make('span', { class: 'rank' }),
      make('span', { class: 'name' }),
      make('span', { class: 'where' }),
      people,
    );
    if (people instanceof HTMLInputElement) {
      people.addEventListener('focus', () => people.select());
      people.addEventListener('keydown', ({ key: pressed }) => {
        if (pressed === 'Enter') people.blur();
      });
      people.addEventListener('change', () => this.#edited(key, people));
    }
    this.#rows.set(key, row);
    return row;
  }

  #edited(key: string, input: HTMLInputElement): void {
    const city = this.#cities.get(key);
    const digits = input.value.replace(/\D/g, '');
    if (city === undefined) return;
    const population = Number(digits);
    if (digits !== '' && Number.isSafeInteger(population) && population !== city.population) {
      this.#onEdit?.(city, population);
    } else {
      input.value = peopleOf(city);
    }
  }

  #fill(row: HTMLElement, rank: number, city: City): void {
    const [rankView, name, where, people] = row.children as unknown as HTMLElement[];
    if (!rankView || !name || !where || !people) return;
    setText(rankView, String(rank));
    setText(name, city.name);
    setText(where, city.region);
    const text = peopleOf(city);
    if (!(people instanceof HTMLInputElement)) setText(people, text);
    // Text under a typing hand stays.
    else if (document.activeElement !== people) people.value = text;
    people.setAttribute('aria-label', `Population of ${city.name}`);
  }
}

function peopleOf({ population }: City): string {
  return population === undefined ? '–' : format.count(population);
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function flash(row: HTMLElement): void {
  row.classList.remove(FLASH);
  // Reading its size makes the browser note that the class was gone.
  void row.offsetWidth;
  row.classList.add(FLASH);
}

function slide(row: HTMLElement, from: number): void {
  if (from === 0 || prefersStillness()) return;
  row.animate([{ transform: `translateY(${from}px)` }, { transform: 'none' }], {
    duration: MOVE_MS,
    easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)',
  });
}
