/**
 * A list of any number of rows, with elements for the rows in view. Rows have one height. Browsers limit the height of
 * an element: the scroll bar of a longer list is scaled, and the wheel still moves row by row.
 */

import { h } from './dom.js';

/** The height of a row in CSS pixels; `components.css` has the same. */
export const ROW_PX = 28;
/** Chromium and Firefox cut off elements at about twice as much. */
const MAX_PX = 8_000_000;

/** The rows of a list, and its handlers. */
export interface ListSource {
  readonly label: string;
  /** Returns the element of a row; `undefined` while it is not loaded. */
  rowOf(n: number): HTMLElement | undefined;
  /** Whether a row is the chosen one. */
  isChosen(n: number): boolean;
  /** Called when the rows from `first` up to `last` are in view. */
  onView(first: number, last: number): void;
  /** Called when a person goes to a row. */
  onChoose(n: number): void;
  /** Called for keys that the list does not use itself. */
  onKey(event: KeyboardEvent): void;
}

let lists = 0;

/** The list: a listbox, with one stop for the Tab key. */
export class VirtualList {
  readonly element: HTMLElement;
  readonly #source: ListSource;
  readonly #spacer = h('div', { class: 'spacer' });
  readonly #layer = h('div', { class: 'layer' });
  readonly #id = `list-${++lists}`;
  readonly #resized = new ResizeObserver(() => this.draw());
  #count = 0;
  /** The number of the row at the top, plus the fraction of it that is out of view. */
  #top = 0;
  #isDrawing = false;

  constructor(source: ListSource) {
    this.#source = source;
    this.element = h(
      'div',
      {
        class: 'list',
        role: 'listbox',
        tabindex: 0,
        'aria-label': source.label,
        onscroll: () => this.#handleScroll(),
        onkeydown: (event: KeyboardEvent) => this.#handleListKey(event),
      },
      this.#layer,
      this.#spacer,
    );
    this.element.addEventListener('wheel', (event) => this.#handleWheel(event), { passive: false });
    this.#resized.observe(this.element);
  }

  /** The number of rows in all. */
  set count(count: number) {
    this.#count = count;
    this.#spacer.style.height = `${this.#heightPx}px`;
    this.#top = Math.min(this.#top, this.#maxTop);
    this.draw();
  }

  get count(): number {
    return this.#count;
  }

  get #heightPx(): number {
    return Math.min(this.#count * ROW_PX, MAX_PX);
  }

  get #isScaled(): boolean {
    return this.#count * ROW_PX > MAX_PX;
  }

  /** The number of whole rows that fit. */
  get page(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / ROW_PX));
  }

  get #maxTop(): number {
    return Math.max(0, this.#count - this.element.clientHeight / ROW_PX);
  }

  #handleScroll(): void {
    const { scrollTop, clientHeight } = this.element;
    if (!this.#isScaled) this.#top = scrollTop / ROW_PX;
    else if (Math.abs(scrollTop - this.#scrollTopOf(this.#top)) > 1) {
      this.#top = (scrollTop / Math.max(1, this.#heightPx - clientHeight)) * this.#maxTop;
    }
    this.draw();
  }

  #scrollTopOf(top: number): number {
    if (!this.#isScaled) return top * ROW_PX;
    return (top / Math.max(1, this.#maxTop)) * (this.#heightPx - this.element.clientHeight);
  }

  #handleWheel(event: WheelEvent): void {
    if (!this.#isScaled || event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    const px =
      event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * ROW_PX;
    this.#goTo(this.#top + px / ROW_PX);
  }

  #goTo(top: number): void {
    this.#top = Math.max(0, Math.min(top, this.#maxTop));
    this.element.scrollTop = this.#scrollTopOf(this.#top);
    this.draw();
  }

  /** Scrolls so that a row is in view. */
  reveal(n: number): void {
    if (n < this.#top) this.#goTo(n);
    else if (n + 1 > this.#top + this.element.clientHeight / ROW_PX) this.#goTo(n + 1 - this.page);
    else this.draw();
  }

  #handleListKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.chosen ?? -1;
    const last = this.#count - 1;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + this.page,
      PageUp: at - this.page,
      Home: 0,
      End: last,
    };
    const to = steps[event.key];
    if (to === undefined) {
      this.#source.onKey(event);
      return;
    }
    event.preventDefault();
    if (last < 0) return;
    const n = Math.max(0, Math.min(to, last));
    this.chosen = n;
    this.reveal(n);
    this.#source.onChoose(n);
  }

  /** The number of the row that the keys start from. */
  chosen: number | undefined;

  /** Draws the rows in view, in this turn. */
  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    const first = Math.floor(this.#top);
    const last = Math.min(this.#count, first + this.page + 2);
    this.#source.onView(first, last);
    const rows: HTMLElement[] = [];
    for (let n = first; n < last; n++) rows.push(this.#option(n));
    this.#layer.style.transform = `translateY(${(first - this.#top) * ROW_PX}px)`;
    this.#layer.replaceChildren(...rows);
    const active = rows.find((row) => row.getAttribute('aria-selected') === 'true');
    if (active === undefined) this.element.removeAttribute('aria-activedescendant');
    else this.element.setAttribute('aria-activedescendant', active.id);
    this.#isDrawing = false;
  }

  #option(n: number): HTMLElement {
    const choose = () => {
      this.chosen = n;
      this.#source.onChoose(n);
    };
    return h(
      'div',
      {
        class: 'row',
        role: 'option',
        id: `${this.#id}-${n}`,
        'aria-selected': this.#source.isChosen(n) ? 'true' : 'false',
        'aria-posinset': n + 1,
        'aria-setsize': this.#count,
        onclick: choose,
      },
      this.#source.rowOf(n) ?? h('span', { class: 'faint' }, '…'),
    );
  }

  close(): void {
    this.#resized.disconnect();
  }
}
