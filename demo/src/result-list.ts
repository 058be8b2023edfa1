import { type City, countryName } from './cities.js';
import { byId, make } from './elements.js';
import * as format from './format.js';
import { fold } from './key.js';

/** Measures how much of `name` the typed letters cover: folding may change its length. */
function coveredLength(name: string, folded: string): number {
  for (let end = 1; end <= name.length; end++) {
    if (fold(name.slice(0, end)).length >= folded.length) return end;
  }
  return name.length;
}

function nameView(name: string, prefix: string): HTMLElement {
  const typedName = prefix.split('/')[0] ?? '';
  const end = typedName === '' ? 0 : coveredLength(name, typedName);
  return make('span', { class: 'name' }, make('mark', {}, name.slice(0, end)), name.slice(end));
}

/** The list of found cities; keys or the pointer choose one. */
export class ResultList {
  readonly #list = byId('results');
  readonly #input = byId('query');
  readonly #onChoice: (city: City | undefined) => void;
  #cities: readonly City[] = [];
  #chosen = -1;

  /** `onChoice` is called on every change of the chosen city. */
  constructor(onChoice: (city: City | undefined) => void) {
    this.#onChoice = onChoice;
    this.#list.addEventListener('pointerdown', (event) => {
      const option = (event.target as Element).closest('[role=option]');
      // The focus stays in the input.
      event.preventDefault();
      if (option !== null) this.choose([...this.#list.children].indexOf(option));
    });
  }

  /** Shows cities that match `prefix`, and chooses the first. */
  show(cities: readonly City[], prefix: string): void {
    this.#cities = cities;
    this.#list.replaceChildren(
      ...cities.map((city, index) => {
        const where = [city.region, countryName(city.country)].filter((part) => part !== '');
        return make(
          'div',
          { role: 'option', id: `result-${index}`, 'aria-selected': 'false' },
          nameView(city.name, prefix),
          make('span', { class: 'where' }, where.join(', ')),
          make('span', { class: 'coordinates' }, format.coordinates(city.lat, city.lng)),
          make('code', { class: 'key' }, city.id),
        );
      }),
    );
    this.#input.setAttribute('aria-expanded', String(cities.length > 0));
    this.choose(cities.length > 0 ? 0 : -1);
  }

  /** Chooses by position; -1 chooses no city. */
  choose(index: number): void {
    this.#list.children[this.#chosen]?.setAttribute('aria-selected', 'false');
    this.#chosen = index;
    const option = this.#list.children[index];
    option?.setAttribute('aria-selected', 'true');
    if (option === undefined) this.#input.removeAttribute('aria-activedescendant');
    else this.#input.setAttribute('aria-activedescendant', option.id);
    this.#onChoice(this.#cities[index]);
  }

  /** Chooses the next or the one before, around the ends. */
  move(step: 1 | -1): void {
    const { length } = this.#cities;
    if (length === 0) return;
    this.choose((this.#chosen + step + length) % length);
    // Only after a key press: the page must not move by itself.
    this.#list.children[this.#chosen]?.scrollIntoView({ block: 'nearest' });
  }
}
