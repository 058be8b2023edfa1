/** A list of all rows whose scroll bar reaches everywhere: what is in view is read by the numbers of its rows. */
import type { Store } from 'hedgerow';
import { type City, countryName } from './cities.js';
import { byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { prefixOf } from './key.js';
import { showTrouble } from './trouble.js';

/** Height of a row, as in the style sheet. */
const ROW_REM = 2.5;

/** Rows that are read before and after those in view. */
const MARGIN = 30;

/** Rows from a number on. */
interface Read {
  readonly first: number;
  readonly cities: readonly City[];
}

const NOTHING: Read = { first: 0, cities: [] };

/** The list, and the box that jumps to a name. */
export class AllView {
  readonly #box = byId('all-rows');
  readonly #room = byId('all-room');
  readonly #list = byId('all-shown');
  readonly #jump = byId<HTMLInputElement>('jump');
  #store: Store | undefined;
  #total = 0;
  #read = NOTHING;
  /** Whether the rows have changed since they were counted. */
  #isStale = false;
  #isReading = false;
  #isDue = false;

  constructor() {
    const draw = () => this.#drawSoon();
    this.#box.addEventListener('scroll', draw, { passive: true });
    new ResizeObserver(draw).observe(this.#box);
    this.#jump.addEventListener('input', () => void this.#jumpTo().catch(showTrouble));
  }

  /** Lists the rows of `store` from now on; of none while it is being filled. */
  attach(store: Store | undefined): void {
    this.#store = store;
    this.#jump.disabled = store === undefined;
    this.changed();
  }

  /** The rows have changed: their numbers may be others now. */
  changed(): void {
    this.#isStale = true;
    void this.#fill();
  }

  get #rowHeight(): number {
    return ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  /** The numbers of the rows in view, from the first to the one after the last. */
  #inView(): [from: number, to: number] {
    const { scrollTop, clientHeight } = this.#box;
    const height = this.#rowHeight;
    const to = Math.min(Math.ceil((scrollTop + clientHeight) / height), this.#total);
    return [Math.min(Math.floor(scrollTop / height), to), to];
  }

  /** Once in a frame, however often it is called. */
  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
      void this.#fill();
    });
  }

  /** Reads until what is in view is there. Rows that were passed meanwhile are not read. */
  async #fill(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (await this.#fillOnce(this.#store));
    } finally {
      this.#isReading = false;
    }
    this.#draw();
  }

  /** Counts the rows, or reads those in view; returns whether there was anything to do. */
  async #fillOnce(store: Store | undefined): Promise<boolean> {
    try {
      if (this.#isStale) {
        this.#isStale = false;
        const total = store === undefined ? 0 : await store.count();
        if (store !== this.#store) return true;
        this.#total = total;
        this.#read = NOTHING;
        if (total === 0) for (const id of ['all-verdict', 'all-call']) setText(id, '');
        this.#room.style.height = `${total * this.#rowHeight}px`;
        return true;
      }
      const [from, to] = this.#inView();
      const { first, cities } = this.#read;
      if (store === undefined || (first <= from && first + cities.length >= to)) return false;
      const offset = Math.max(0, from - MARGIN);
      const limit = to + MARGIN - offset;
      const startMs = performance.now();
      const read = await store.scan<City>({ offset, limit }).values().toArray();
      const ms = performance.now() - startMs;
      if (store !== this.#store) return true;
      this.#read = { first: offset, cities: read };
      setText('all-call', `db.scan({ offset: ${offset}, limit: ${limit} })`);
      setText('all-verdict', `${format.count(read.length)} rows in ${format.duration(ms)}`);
      // Fewer than were counted: some are gone meanwhile.
      if (offset + read.length < to) this.#isStale = true;
      return true;
    } catch (failure) {
      // A store that is not shown any more may be closed.
      if (store !== this.#store) return true;
      showTrouble(failure);
      return false;
    }
  }

  #draw(): void {
    const [from, to] = this.#inView();
    const { first, cities } = this.#read;
    while (this.#list.children.length > to - from) this.#list.lastElementChild?.remove();
    while (this.#list.children.length < to - from) this.#list.append(emptyRow());
    this.#list.style.transform = `translateY(${from * this.#rowHeight}px)`;
    for (const [at, row] of [...this.#list.children].entries()) {
      fillRow(row as HTMLElement, from + at, this.#total, cities[from + at - first]);
    }
    figures.list = { total: this.#total, from, to, read: cities.length };
  }

  /** Shows the first row whose key is not below what was typed. */
  async #jumpTo(): Promise<void> {
    const store = this.#store;
    const prefix = prefixOf(this.#jump.value);
    if (store === undefined) return;
    const startMs = performance.now();
    const number = await store.rank(prefix);
    const ms = performance.now() - startMs;
    if (prefix !== prefixOf(this.#jump.value)) return;
    setText('jump-call', `db.rank('${prefix}')`);
    setText('jump-answer', `${format.count(number)} in ${format.duration(ms)}`);
    this.#box.scrollTop = number * this.#rowHeight;
  }
}

function emptyRow(): HTMLElement {
  const part = (name: string) => make('span', { class: name });
  return make('li', {}, ...['number', 'name', 'where', 'key'].map(part));
}

/** Fills the row with a number; it stays a place holder while its city is being read. */
function fillRow(row: HTMLElement, number: number, total: number, city: City | undefined): void {
  const where = city && [city.region, countryName(city.country)].filter((part) => part !== '');
  const texts = [format.count(number), city?.name ?? '', where?.join(', ') ?? '', city?.id ?? ''];
  for (const [at, text] of texts.entries()) {
    const part = row.children[at];
    if (part && part.textContent !== text) part.textContent = text;
  }
  row.classList.toggle('awaited', city === undefined);
  row.setAttribute('aria-posinset', String(number + 1));
  row.setAttribute('aria-setsize', String(total));
}
