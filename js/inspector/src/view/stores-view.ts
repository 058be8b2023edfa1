/** Shows the stores of the origin, or asks for a name where the browser does not list them. */

import { idb } from 'hedgerow';
import { type StoreSummary, storeNames, summaryOf, wordsOfError } from '../model/store-summary.js';
import { countText, shortRoot, sizeText } from '../model/value-text.js';
import { button, fill, h, tableElement } from './dom.js';

const COLUMNS = ['store', 'rows', 'stored', 'segments', 'branches', 'root'];

type StoreListing =
  | StoreSummary
  | { readonly name: string; readonly error: string }
  | { readonly name: string };

function rowOf(told: StoreListing, onOpen: (name: string) => void) {
  const open = button(told.name === '' ? '(the empty name)' : told.name, () => onOpen(told.name), {
    class: 'link',
  });
  if ('error' in told) return [open, told.error, '', '', '', ''];
  if (!('rows' in told)) return [open, '…', '', '', '', ''];
  const { rows, bytes, segments, branches, root } = told;
  const names = branches.slice(0, 4).join(', ') + (branches.length > 4 ? ', …' : '');
  return [
    open,
    countText(rows),
    sizeText(bytes),
    countText(segments),
    branches.length === 0 ? 'main' : `main, ${names}`,
    h('code', { title: root }, shortRoot(root)),
  ];
}

/** Creates the form for a name. */
function nameForm(onOpen: (name: string) => void): HTMLElement {
  const field = h('input', { id: 'store-name', autocomplete: 'off', spellcheck: 'false' });
  const onsubmit = (event: Event) => {
    event.preventDefault();
    onOpen(field.value);
  };
  const label = h('label', { for: 'store-name' }, 'Name of the store');
  return h('form', { class: 'tools', onsubmit }, label, field, h('button', {}, 'Open'));
}

/** Creates the list, which reads one store after the other. */
export function storesView(onOpen: (name: string) => void): {
  element: HTMLElement;
  close(): void;
} {
  let isClosed = false;
  const result = h('div', {}, h('p', { class: 'faint' }, 'Reading …'));
  const run = async () => {
    const names = await storeNames();
    if (names === undefined) {
      fill(result, h('p', {}, 'This browser does not list databases.'), nameForm(onOpen));
      return;
    }
    const told: StoreListing[] = names.map((name) => ({ name }));
    const draw = () => {
      const rows = told.map((one) => rowOf(one, onOpen));
      const none = h('p', {}, 'This origin has no store.');
      fill(result, names.length === 0 ? none : tableElement('Stores', COLUMNS, rows));
    };
    draw();
    for (const [at, name] of names.entries()) {
      if (isClosed) return;
      told[at] = await summaryOf(name, idb()).catch((cause) => ({
        name,
        error: wordsOfError(cause),
      }));
      // A table that is drawn again loses the focus.
      const isFocused = result.contains(document.activeElement);
      const focused = isFocused ? document.activeElement?.textContent : undefined;
      draw();
      if (!isFocused) continue;
      for (const link of result.querySelectorAll('button')) {
        if (link.textContent === focused) link.focus();
      }
    }
  };
  run().catch((cause) => fill(result, h('p', { class: 'problem' }, wordsOfError(cause))));
  const close = () => {
    isClosed = true;
  };
  return {
    element: h('main', { class: 'plain' }, h('h2', {}, 'Stores of this origin'), result),
    close,
  };
}
