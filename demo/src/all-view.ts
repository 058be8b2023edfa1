/** Shows a list of all rows whose scroll bar reaches everywhere: it reads the rows in view by their numbers. */
import { type Live, type LiveCount, live, liveCount } from 'hedgerow';
import { type City, type CityStore, countryName } from './cities.js';
import { byId, make, setText } from './elements.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { prefixOf } from './key.js';
import { showTrouble } from './trouble.js';

/** Height of a row, as in the style sheet. */
const ROW_REM = 2.5;

/** Rows to read before and after the rows in view. */
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
  #table: CityStore['cities'] | undefined;
  #count: LiveCount | undefined;
  #window: Live<City> | undefined;
  #total = 0;
  #read = NOTHING;
  /** The window that was requested, until its rows are there. */
  #asked: { readonly offset: number; readonly limit: number; readonly atMs: number } | undefined;
  #isDue = false;

  constructor() {
    const draw = () => this.#drawSoon();
    this.#box.addEventListener('scroll', draw, { passive: true });
    new ResizeObserver(draw).observe(this.#box);
    this.#jump.addEventListener('input', () => void this.#jumpTo().catch(showTrouble));
  }

  /** Lists the rows of `store` from now on; `undefined` while it is being filled. */
  attach(store: CityStore | undefined): void {
    this.#count?.close();
    this.#window?.close();
    this.#table = store?.cities;
    this.#count = store && liveCount(store.cities);
    this.#window = undefined;
    this.#read = NOTHING;
    this.#asked = undefined;
    this.#jump.disabled = store === undefined;
    this.#count?.subscribe(() => this.#counted());
    this.#counted();
  }

  #counted(): void {
    const { count = 0, error } = this.#count?.get() ?? {};
    if (error !== undefined) showTrouble(error);
    this.#total = count;
    if (count === 0) for (const id of ['all-verdict', 'all-call']) setText(id, '');
    this.#room.style.height = `${count * this.#rowHeight}px`;
    this.#draw();
  }

  get #rowHeight(): number {
    return ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  /** Returns the numbers of the rows in view, from the first to the one after the last. */
  #inView(): [from: number, to: number] {
    const { scrollTop, clientHeight } = this.#box;
    const height = this.#rowHeight;
    const to = Math.min(Math.ceil((scrollTop + clientHeight) / height), this.#total);
    return [Math.min(Math.floor(scrollTop / height), to), to];
  }

  /** Draws once in a frame, however often it is called. */
  #drawSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  /** Moves the window to the rows in view; one move at a time, so that rows passed in the meantime are not read. */
  #move(from: number, to: number): void {
    const { first, cities } = this.#read;
    const isThere = first <= from && first + cities.length >= to;
    if (this.#table === undefined || this.#asked !== undefined || isThere) return;
    const offset = Math.max(0, from - MARGIN);
    const limit = to + MARGIN - offset;
    this.#asked = { offset, limit, atMs: performance.now() };
    const query = this.#table.all().offset(offset).limit(limit);
    if (this.#window !== undefined) this.#window.change(query);
    else {
      this.#window = live(query);
      this.#window.subscribe(() => this.#took());
    }
    this.#took();
  }

  /** Draws: the rows of the window are there, or have changed. */
  #took(): void {
    const { rows, status, isStale, error } = this.#window?.get() ?? {};
    const asked = this.#asked;
    if (status === 'error') {
      this.#asked = undefined;
      showTrouble(error);
    }
    if (status !== 'ready' || isStale || rows === undefined) return;
    this.#read = { first: asked?.offset ?? this.#read.first, cities: rows };
    this.#asked = undefined;
    if (asked !== undefined) {
      const { offset, limit, atMs } = asked;
      const ms = performance.now() - atMs;
      setText('all-call', `live(db.cities.all().offset(${offset}).limit(${limit}))`);
      setText('all-verdict', `${format.count(rows.length)} rows in ${format.duration(ms)}`);
    }
    this.#drawSoon();
  }

  #draw(): void {
    const [from, to] = this.#inView();
    this.#move(from, to);
    const { first, cities } = this.#read;
    while (this.#list.children.length > to - from) this.#list.lastElementChild?.remove();
    while (this.#list.children.length < to - from) this.#list.append(emptyRow());
    this.#list.style.transform = `translateY(${from * this.#rowHeight}px)`;
    for (const [at, row] of [...this.#list.children].entries()) {
      fillRow(row as HTMLElement, from + at, this.#total, cities[from + at - first]);
    }
    figures.list = { total: this.#total, from, to, read: cities.length };
  }

  /** Shows the first row whose key is not below the typed text. */
  async #jumpTo(): Promise<void> {
    const table = this.#table;
    const prefix = prefixOf(this.#jump.value);
    if (table === undefined) return;
    const startMs = performance.now();
    const number = await table.rank(prefix);
    const ms = performance.now() - startMs;
    if (prefix !== prefixOf(this.#jump.value)) return;
    setText('jump-call', `db.cities.rank('${prefix}')`);
    setText('jump-answer', `${format.count(number)} in ${format.duration(ms)}`);
    this.#box.scrollTop = number * this.#rowHeight;
  }
}

function emptyRow(): HTMLElement {
  const part = (name: string) => make('span', { class: name });
  return make('li', {}, ...['number', 'name', 'where', 'key'].map(part));
}

/** Fills the row with a number; it stays a placeholder while its city is being read. */
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
