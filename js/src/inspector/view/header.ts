/** The line at the top: what is shown, and the ways to something else. */

import type { Session } from '../model/session.js';
import { shortRoot } from '../model/value-text.js';
import { button, h, select } from './dom.js';

/** What the line can do. */
export interface HeaderActs {
  onStores(): void;
  onFile(file: File): void;
  onBranch(name: string): void;
}

/** How often the root of the branch is looked at, which costs nothing. */
const LOOK_MS = 500;
/** A frame of `openInspector` is closed by this event. */
const CLOSE = 'hedgerow-close';

/** A button that opens a file of an export. */
function fileButton(onFile: (file: File) => void): HTMLElement[] {
  const field = h('input', {
    type: 'file',
    class: 'hidden',
    tabindex: -1,
    'aria-label': 'A file of an export',
    onchange: () => {
      const [file] = field.files ?? [];
      field.value = '';
      if (file) onFile(file);
    },
  });
  return [button('Open a file', () => field.click()), field];
}

function closeButton(): HTMLElement[] {
  const frame = window.frameElement;
  if (frame === null) return [];
  return [button('Close', () => frame.dispatchEvent(new Event(CLOSE)))];
}

/** The root of what is shown, as it moves. */
function rootElement({ db }: Session): { element: HTMLElement; close(): void } {
  const element = h('code');
  const look = () => {
    try {
      if (element.title === db.root) return;
      element.title = db.root;
      element.textContent = shortRoot(db.root);
    } catch {
      // The store was deleted: its panel says so.
    }
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return { element, close: () => clearInterval(timer) };
}

/** The line, for a store or for the list of all. */
export function header(
  session: Session | undefined,
  branches: readonly string[],
  { onStores, onFile, onBranch }: HeaderActs,
): { element: HTMLElement; close(): void } {
  const root = session && rootElement(session);
  const names = branches.map((name) => [name, name] as const);
  const where = session
    ? [
        h('h1', {}, session.place.name, session.place.canEdit ? '' : ' (a file, read only)'),
        select('Branch', names, session.branchName, onBranch),
        h('span', { class: 'hidden' }, 'Root'),
        root?.element,
      ]
    : [h('h1', {}, 'Hedgerow inspector')];
  const acts = [
    ...(session ? [button('All stores', onStores)] : []),
    ...fileButton(onFile),
    ...closeButton(),
  ];
  const element = h('header', {}, ...where, h('span', { class: 'acts' }, ...acts));
  return { element, close: () => root?.close() };
}
