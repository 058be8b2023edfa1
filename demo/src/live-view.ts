import type { RowChange } from 'hedgerow';
import type { City, IndexedStore } from './cities.js';
import { announce, byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import { follow } from './followed.js';
import * as format from './format.js';
import { LIMIT, type Picked } from './index-view.js';
import { citiesOf } from './indexes.js';
import { RankList } from './rank-list.js';
import { showTrouble } from './trouble.js';

const LOG_LENGTH = 7;
const SHUFFLE_MS = 600;

/** The branch that stays where the load has left the rows. */
export const LOADED = 'loaded';

/** An announced edit: all tabs get it before the edit is made, so that they can say how long it took. */
interface Notice {
  readonly key: string;
  readonly population: number;
  /** Milliseconds since the epoch, by the clock of the tab. */
  readonly atMs: number;
}

function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The live list: the first cities of a country, as any tab changes them. */
export class LiveView {
  readonly #list = new RankList(byId('live-rows'), {
    onEdit: (city, population) => void this.#edit(city, population).catch(showTrouble),
  });
  readonly #shuffle = byId<HTMLButtonElement>('shuffle');
  readonly #keepOn = byId<HTMLInputElement>('keep-on');
  readonly #restore = byId<HTMLButtonElement>('restore');
  readonly #channel = new BroadcastChannel('hedgerow-demo-edits');
  readonly #notices = new Map<string, Notice & { readonly fromOther: boolean }>();
  readonly #onChange: () => void;
  #store: IndexedStore | undefined;
  #cities: readonly City[] = [];
  #stop: () => void = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `onChange` is called when this list has heard of changes. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#channel.addEventListener('message', ({ data }) => {
      const notice = data as Notice;
      this.#notices.set(notice.key, { ...notice, fromOther: true });
    });
    this.#shuffle.addEventListener('click', () => this.#shuffleOne());
    this.#keepOn.addEventListener('change', () => this.#keepShuffling());
    this.#restore.addEventListener('click', () => void this.#putBack().catch(showTrouble));
  }

  /** Shows and follows the choice in `store` from now on; an empty list without a store. */
  attach(store: IndexedStore | undefined, picked?: Picked): void {
    this.#stop();
    this.#store = store;
    for (const button of [this.#shuffle, this.#restore, this.#keepOn]) button.disabled = !store;
    const link = byId<HTMLAnchorElement>('second-tab');
    link.toggleAttribute('aria-disabled', !store);
    if (store === undefined || picked === undefined) {
      this.#keepOn.checked = false;
      this.#keepShuffling();
      this.#cities = [];
      this.#list.show([]);
      byId('live-log').replaceChildren();
      setText('live-verdict', '');
      return;
    }
    const { country, by } = picked;
    link.href = `?country=${country}#live`;
    const stopList = follow(
      citiesOf(store, country, by).limit(LIMIT),
      (cities, changed) => {
        this.#cities = cities;
        this.#list.show(cities, { changed });
      },
      showTrouble,
    );
    // The list does not report cities that have left it: the log has every change of the country.
    const stopLog = store.cities
      .where({ country })
      .watch((changes, { root }) => this.#told(store, changes, root), { onError: showTrouble });
    this.#stop = () => {
      stopList();
      stopLog();
    };
  }

  /** Logs all changes since the last call. */
  #told(store: IndexedStore, changes: readonly RowChange<City>[], root: string): void {
    if (store !== this.#store) return;
    const [change] = changes;
    if (changes.length > 1 || change === undefined || change.op === 'delete') {
      this.#log(`${format.plural(changes.length, 'city', 'cities')} changed at once`, '');
    } else {
      this.#tellEdit(change.newValue, root);
    }
    this.#onChange();
  }

  #tellEdit({ id: key, name, population }: City, root: string): void {
    const notice = this.#notices.get(key);
    // Without a notice it was no edit of a list: a merge, or all rows put back.
    const known = notice?.population === population ? notice : undefined;
    const ms = known && Math.max(epochMs() - known.atMs, 0);
    const fromOther = known?.fromOther === true;
    figures.live = { key, population, ms, fromOther, root };
    const where = fromOther ? 'from another tab' : 'from this tab';
    const time = ms === undefined ? '' : `${where}, ${format.duration(ms)}`;
    const count = population === undefined ? 'unknown' : format.count(population);
    this.#log(`${name} is now ${count}`, time, fromOther);
    setText('live-verdict', ms === undefined ? '' : `${format.duration(ms)} from edit to list`);
    if (fromOther) announce(`${name} was changed in another tab`);
  }

  #log(what: string, time: string, fromOther = false): void {
    const log = byId('live-log');
    const line = make('li', { class: fromOther ? 'other' : '' }, make('span', {}, what));
    if (time !== '') line.append(make('small', {}, time));
    log.prepend(line);
    while (log.children.length > LOG_LENGTH) log.lastElementChild?.remove();
  }

  async #edit({ id: key }: City, population: number): Promise<void> {
    const notice: Notice = { key, population, atMs: epochMs() };
    this.#notices.set(key, { ...notice, fromOther: false });
    this.#channel.postMessage(notice);
    // Changes that another tab has made to the row in between stay.
    await this.#store?.cities.update(key, { population });
  }

  #shuffleOne(): void {
    const city = this.#cities[Math.floor(Math.random() * this.#cities.length)];
    if (city?.population === undefined) return;
    const population = Math.round(city.population * (0.7 + 0.7 * Math.random())) + 1;
    this.#edit(city, population).catch(showTrouble);
  }

  #keepShuffling(): void {
    clearInterval(this.#timer);
    if (this.#keepOn.checked) this.#timer = setInterval(() => this.#shuffleOne(), SHUFFLE_MS);
  }

  /** Puts everything back as it was loaded, whoever has changed it: the branch moves, no row is written. */
  async #putBack(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    this.#keepOn.checked = false;
    this.#keepShuffling();
    const startMs = performance.now();
    await store.branches.reset(LOADED);
    const ms = performance.now() - startMs;
    this.#log('All rows are as they were loaded', `one pointer moved, ${format.duration(ms)}`);
    this.#onChange();
  }
}
