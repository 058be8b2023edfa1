/** Asks before an action that cannot be undone. */

import { button, h } from './dom.js';

/** Resolves to whether the person agrees. Escape and Cancel mean no; the focus returns to its place. */
export function ask(question: string, what: string, action: string): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = button('Cancel', () => dialog.close('no'), { autofocus: true });
    const go = button(action, () => dialog.close('yes'), { class: 'danger' });
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'ask-title' },
      h('h2', { id: 'ask-title' }, question),
      h('p', { class: 'key' }, what),
      h('div', { class: 'tools' }, cancel, go),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
