/** Shows rows in the order of keys or of an index, with a search, in a list of any length; and the value of one row. */

import { type TreeOf, titleOf } from '../model/commit-trees.js';
import type { Order } from '../model/parse-row-search.js';
import { countText, previewOf } from '../model/value-text.js';
import { button, h, select } from './dom.js';
import type { MakePanel, Panel, PanelContext } from './panel-types.js';
import { RowsWindow, type WindowRow } from './rows-window.js';
import { ValueView } from './value-view.js';
import { VirtualList } from './virtual-list.js';

/** Milliseconds from the last letter to the search. */
const SEARCH_MS = 120;
const PLACEHOLDERS = {
  keys: 'beginning of a key',
  index: 'beginning, or a value as JSON',
} as const;

function rowElement([key, value, secondary]: WindowRow): HTMLElement {
  return h(
    'span',
    { class: 'cells' },
    secondary !== undefined && h('span', { class: 'cell secondary' }, JSON.stringify(secondary)),
    h('span', { class: 'cell key' }, key === '' ? '(the empty key)' : key),
    h('span', { class: 'cell faint' }, previewOf(value)),
  );
}

/** Describes an index; an index that is not read with its number of entries, and the reason. */
function titleOfIndex({ definition, name, count, isComplete }: TreeOf, isRead: boolean): string {
  const title = `index ${definition ? titleOf(definition) : name}`;
  if (isRead) return title;
  const why = definition ? 'not on the main branch' : 'of a later version';
  return `${title} · ${countText(count)} entries, ${isComplete ? why : 'being built'}`;
}

/** Creates the choice of the order: by keys, or by an index; indexes that cannot be read are named, too. */
function orderSelect(
  { session }: PanelContext,
  onchange: (order: Order) => void,
): HTMLSelectElement {
  const indexes = session.trees.filter(({ kind }) => kind === 'index');
  const isRead = ({ name }: TreeOf) => session.indexes.includes(name);
  const choices = indexes.map((tree) => [tree.name, titleOfIndex(tree, isRead(tree))] as const);
  const order = (value: string) => (value === '' ? undefined : value);
  const element = select('Order', [['', 'by key'], ...choices], '', (value) =>
    onchange(order(value)),
  );
  for (const [at, tree] of indexes.entries()) {
    const option = element.options[at + 1];
    if (option) option.disabled = !isRead(tree);
  }
  return element;
}

/** Puts a count into words. */
function nounOf(count: number, order: Order): string {
  const [one, many] = order === undefined ? ['row', 'rows'] : ['entry', 'entries'];
  return `${countText(count)} ${count === 1 ? one : many}`;
}

class RowsPanel implements Panel {
  readonly element: HTMLElement;
  readonly #context: PanelContext;
  readonly #rows: RowsWindow;
  readonly #list: VirtualList;
  readonly #value: ValueView;
  readonly #search: HTMLInputElement;
  readonly #orders: HTMLSelectElement;
  readonly #total = h('output', { class: 'faint' }, '…');
  #order: Order;
  #chosenKey: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: PanelContext) {
    this.#context = context;
    this.#rows = new RowsWindow(context, () => this.#handleRowsChange());
    this.#list = new VirtualList({
      label: 'Rows',
      rowOf: (n) => {
        const row = this.#rows.rowAt(n);
        return row && rowElement(row);
      },
      isChosen: (n) => n === this.#list.chosen && this.#chosenKey !== undefined,
      onView: (first, last) => this.#rows.want(first, last),
      onChoose: () => this.#choose(),
      onKey: (event) => this.#handleRowsKey(event),
    });
    this.#value = new ValueView(context, () => this.#list.element.focus());
    this.#search = this.#searchField();
    this.#orders = orderSelect(context, (order) => {
      this.#order = order;
      this.#search.placeholder = PLACEHOLDERS[order === undefined ? 'keys' : 'index'];
      this.#begin();
    });
    const tools = [button('Go to key', () => this.#goTo())];
    if (context.session.place.canEdit) tools.push(button('New row', () => this.#make()));
    this.element = h(
      'div',
      { class: 'rows' },
      h('div', { class: 'tools' }, this.#search, this.#orders, ...tools, this.#total),
      h('div', { class: 'split' }, this.#list.element, this.#value.element),
    );
    this.#begin();
  }

  #searchField(): HTMLInputElement {
    return h('input', {
      type: 'search',
      'aria-label': 'Search by the beginning of a key, or by a value of the index',
      placeholder: PLACEHOLDERS.keys,
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#begin(), SEARCH_MS);
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'ArrowDown') this.#list.element.focus();
      },
    });
  }

  #make(): void {
    this.#value.make(this.#search.value);
  }

  /** Shows the chosen row, once it is loaded. */
  #choose(): void {
    const row = this.#list.chosen === undefined ? undefined : this.#rows.rowAt(this.#list.chosen);
    this.#chosenKey = row?.[0];
    if (this.#chosenKey !== undefined) this.#value.show(this.#chosenKey);
    this.#list.draw();
  }

  #handleRowsChange(): void {
    const { count } = this.#rows;
    if (count !== undefined) {
      if (count !== this.#list.count) this.#list.count = count;
      this.#total.textContent = nounOf(count, this.#order);
    }
    const { chosen } = this.#list;
    if (chosen !== undefined && this.#chosenKey === undefined) {
      this.#choose();
      return;
    }
    // Rows before the chosen one may have come or gone.
    if (this.#chosenKey !== undefined && this.#rows.rowAt(chosen ?? -1)?.[0] !== this.#chosenKey) {
      this.#list.chosen = this.#rows.numberOf(this.#chosenKey) ?? chosen;
    }
    this.#list.draw();
  }

  #handleRowsKey(event: KeyboardEvent): void {
    const acts: Readonly<Record<string, () => unknown>> = {
      Enter: () => this.#value.edit(),
      Delete: () => this.#value.remove(),
      n: () => this.#make(),
      '/': () => this.#search.focus(),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#list.chosen = undefined;
    this.#chosenKey = undefined;
    this.#list.reveal(0);
    this.#rows.search(this.#order, this.#search.value);
  }

  /** Shows all rows by their keys, at the place of the searched key. */
  async #goTo(): Promise<void> {
    const { db } = this.#context.session;
    const key = this.#search.value;
    const [n, count] = (await this.#context.runTimed('go to key', () =>
      Promise.all([db.rank(key), db.count()]),
    )) ?? [undefined, 0];
    if (n === undefined) return;
    this.#order = undefined;
    this.#orders.value = '';
    this.#search.value = '';
    this.#begin();
    this.#list.count = count;
    if (count === 0) return;
    this.#list.chosen = Math.min(n, count - 1);
    this.#list.reveal(this.#list.chosen);
    this.#choose();
    this.#list.element.focus();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#rows.close();
    this.#value.close();
    this.#list.close();
  }
}

export const rowsPanel: MakePanel = (context) => new RowsPanel(context);
