/** Shows the changes between any two roots: heads, forks, kept and earlier states, or pasted roots. */

import type { Change } from 'hedgerow';
import { type ListedState, rootFrom, statesOf } from '../model/comparable-roots.js';
import { type ComparisonResult, compareRoots, SHOWN_CHANGES } from '../model/compare-roots.js';
import { linesBetween } from '../model/line-diff.js';
import { countText, formatValue, previewOf, shortRoot } from '../model/value-text.js';
import { button, fill, h, select } from './dom.js';
import type { MakePanel, Panel, PanelContext } from './panel-types.js';
import { VirtualList } from './virtual-list.js';

const MARKS = { insert: '+', update: '±', delete: '−' } as const;
const WORDS = { insert: 'added', update: 'changed', delete: 'deleted' } as const;
const LINE_MARKS = { same: ' ', add: '+', del: '−' } as const;

const titleOfState = ({ title, root, isKept }: ListedState) =>
  `${title} · ${shortRoot(root)}${isKept ? '' : ' (may be collected)'}`;

/** One of the two roots: a choice among states, and a field, whose text counts. */
class RootField {
  readonly element: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #choice: HTMLSelectElement;

  constructor(label: string, states: readonly ListedState[], root: string) {
    this.#field = h('input', {
      'aria-label': `${label}: root`,
      class: 'root',
      value: root,
      spellcheck: 'false',
      oninput: () => this.#settle(),
    });
    const choices = [
      ['', 'a root, pasted'] as const,
      ...states.map((state) => [state.root, titleOfState(state)] as const),
    ];
    this.#choice = select(`${label}: state`, choices, root, (value) => {
      this.#field.value = value;
      if (value === '') this.#field.focus();
    });
    this.element = h('div', { class: 'pair' }, h('span', {}, label), this.#choice, this.#field);
    this.#settle();
  }

  #settle(): void {
    this.#choice.value = this.#field.value;
    if (this.#choice.selectedIndex < 0) this.#choice.value = '';
  }

  get text(): string {
    return this.#field.value;
  }
}

/** Returns the values of a row before and after; `undefined` where it does not exist. */
function valuesOf(change: Change): [before: unknown, after: unknown] {
  return [
    change.op === 'insert' ? undefined : change.oldValue,
    change.op === 'delete' ? undefined : change.newValue,
  ];
}

function changeElement(change: Change): HTMLElement {
  const { op, key } = change;
  const [before, after] = valuesOf(change);
  return h(
    'span',
    { class: `cells ${op}` },
    h('span', { class: 'cell mark', title: WORDS[op] }, MARKS[op]),
    h('span', { class: 'cell key' }, key),
    h('span', { class: 'cell faint' }, previewOf(op === 'delete' ? before : after)),
  );
}

/** Shows both values of a changed row, line by line. */
function detailOf(change: Change): HTMLElement[] {
  const { op, key } = change;
  const [before, after] = valuesOf(change);
  const text = (value: unknown) => (value === undefined ? undefined : formatValue(value));
  const lines = linesBetween(text(before), text(after)).map(({ op: line, text }) =>
    h('span', { class: `line ${line}` }, `${LINE_MARKS[line]} ${text}\n`),
  );
  return [
    h('h2', { class: 'key' }, key),
    h('p', { class: 'faint' }, WORDS[op]),
    h('pre', { tabindex: 0, role: 'region', 'aria-label': 'What has changed' }, ...lines),
  ];
}

class ComparePanel implements Panel {
  readonly element = h('div', { class: 'rows' }, h('p', { class: 'faint' }, 'Reading …'));
  readonly #context: PanelContext;
  readonly #list: VirtualList;
  readonly #detail = h('section', { class: 'value', 'aria-label': 'Change' });
  readonly #total = h('output', { class: 'faint' });
  #changes: readonly Change[] = [];
  #running: AbortController | undefined;

  constructor(context: PanelContext) {
    this.#context = context;
    this.#list = new VirtualList({
      label: 'Changes',
      rowOf: (n) => {
        const change = this.#changes[n];
        return change && changeElement(change);
      },
      isChosen: (n) => n === this.#list.chosen,
      onView: () => {},
      onChoose: (n) => this.#show(n),
      onKey: () => {},
    });
    this.#draw().catch((cause) => context.fail(cause));
  }

  async #draw(): Promise<void> {
    const { session, roots } = this.#context;
    const states = await statesOf(session);
    const base = states.find(({ title }) => title.includes(`${session.branchName}: where`));
    const earlier = states.find(({ isKept }) => !isKept) ?? states.at(-1);
    const from = new RootField('From', states, roots?.from ?? base?.root ?? earlier?.root ?? '');
    const to = new RootField('To', states, roots?.to ?? session.db.root);
    const prefix = h('input', {
      'aria-label': 'Only keys that begin with',
      placeholder: 'all keys',
    });
    const go = () => this.#compare(from.text, to.text, prefix.value);
    fill(
      this.element,
      from.element,
      to.element,
      h('div', { class: 'tools' }, prefix, button('Compare', go), this.#total),
      h('div', { class: 'split' }, this.#list.element, this.#detail),
    );
    if (roots !== undefined) await go();
  }

  async #compare(fromText: string, toText: string, prefix: string): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    this.#show(undefined);
    this.#take({ changes: [], added: 0, changed: 0, deleted: 0, isDone: false });
    const compared = await this.#context.runTimed('compare', () => {
      const [from, to] = [rootFrom(fromText), rootFrom(toText)];
      const { signal } = running;
      const onProgress = (found: ComparisonResult) => this.#take(found);
      return compareRoots(this.#context.session.db, from, to, { prefix, signal, onProgress });
    });
    if (running !== this.#running) return;
    if (compared !== undefined) this.#take(compared);
    else this.#total.textContent = 'not compared';
  }

  #take({ changes, added, changed, deleted, isDone }: ComparisonResult): void {
    this.#changes = changes;
    this.#list.count = changes.length;
    const all = added + changed + deleted;
    const counts = [
      `${countText(added)} added`,
      `${countText(changed)} changed`,
      `${countText(deleted)} deleted`,
    ];
    const cut = all > changes.length ? `; the first ${countText(SHOWN_CHANGES)} are listed` : '';
    this.#total.textContent = `${counts.join(', ')}${isDone ? cut : ' so far …'}`;
  }

  #show(n: number | undefined): void {
    this.#list.chosen = n;
    const change = n === undefined ? undefined : this.#changes[n];
    const hint = h('p', { class: 'faint' }, 'Choose a change to see both values.');
    fill(this.#detail, ...(change ? detailOf(change) : [hint]));
    this.#list.draw();
  }

  close(): void {
    this.#running?.abort();
    this.#list.close();
  }
}

export const comparePanel: MakePanel = (context) => new ComparePanel(context);
