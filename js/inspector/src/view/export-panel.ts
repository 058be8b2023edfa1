/** Exports a store to a file. */

import { exportedOf, exportFileName } from '../model/store-export-file.js';
import { sizeText } from '../model/value-text.js';
import { button, h } from './dom.js';
import type { MakePanel } from './panel-types.js';

/** Offers bytes as a file of this name. */
function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  h('a', { href, download: name }).click();
  // The browser reads the file after this turn.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

export const filePanel: MakePanel = (context) => {
  const { session } = context;
  const branches = h('input', { type: 'checkbox', checked: true });
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress', hidden: true });
  const state = h('output', {});
  const save = async () => {
    start.disabled = true;
    bar.hidden = false;
    const name = exportFileName(session.place.name, session.db.root);
    const blob = await context.runTimed('export', () =>
      exportedOf(session.db, branches.checked, ({ bytes, ofBytes }) => {
        bar.value = bytes / Math.max(1, ofBytes);
        state.textContent = `${sizeText(bytes)} of ${sizeText(ofBytes)}`;
      }),
    );
    start.disabled = false;
    bar.hidden = true;
    if (blob === undefined) return;
    download(blob, name);
    state.textContent = `${name}, ${sizeText(blob.size)}`;
  };
  const start = button('Export to a file', save);
  const element = h(
    'div',
    { class: 'plain' },
    h('h2', {}, 'Export'),
    h(
      'p',
      { class: 'faint' },
      'All rows and indexes of the branch that is shown, as they are now, in the format of db.export(). “Open a file” shows such a file; importStore() makes a store of it.',
    ),
    h('div', { class: 'tools' }, start, h('label', {}, branches, ' with all other branches')),
    h('div', { class: 'tools' }, bar, state),
  );
  return { element };
};
