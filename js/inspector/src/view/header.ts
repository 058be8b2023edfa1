/** The line at the top: the shown store and branch, and the ways to others. */

import type { Session } from '../model/store-session.js';
import { shortRoot } from '../model/value-text.js';
import { button, h, select } from './dom.js';

/** The actions of the line. */
export interface HeaderActs {
  onStores(): void;
  onFile(file: File): void;
  onBranch(name: string): void;
}

/** Milliseconds between two looks at the root of the branch, which cost no reads. */
const LOOK_MS = 500;
/** The event that closes a frame of `openInspector`. */
const CLOSE = 'hedgerow-close';

/** Creates a button that opens a file of an export. */
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

/** Shows the root of a session as it moves. */
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

/** Creates the line, for a store or for the list of stores. */
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
