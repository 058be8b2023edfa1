/**
 * The `indexedDB` that databases are opened with. WebKit keeps IndexedDB in its network process. When that process has
 * ended, as iOS may end it while an app is in the background, the `indexedDB` of a document fails until the document
 * is loaded again: "Connection to Indexed Database server lost. Refresh the page to try again". That of a new document
 * works: here, that of a hidden, empty frame.
 */
import { isWebKit } from '../../base/engine-name.js';
import { buildLostError } from './failures.js';

/** The `indexedDB` of a document. */
export interface Factory {
  readonly indexedDB: IDBFactory;
  /** Aborted when the document is gone: nothing that is under way in it is ever answered. The page's never is. */
  readonly gone?: AbortSignal;
}

/** One that works, and its frame. */
let renewed: { readonly factory: Factory; readonly frame: HTMLIFrameElement } | undefined;

/** `Factory.gone` of where a database was opened. */
export const goneOf = new WeakMap<IDBDatabase, AbortSignal>();

/** As `work`, but lost when the document goes in which it is under way, as if its connection were. */
export function unlessGone<T>(gone: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (gone === undefined) return work;
  let end = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(buildLostError());
    if (gone.aborted) end();
    gone.addEventListener('abort', end);
  });
  return Promise.race([work, ended]).finally(() => gone.removeEventListener('abort', end));
}

/** The caller has made sure that there is one. */
export function currentFactory(): Factory {
  return renewed?.factory ?? { indexedDB: globalThis.indexedDB };
}

/** Takes another document's from now on, if `cause` says that `failed` is of no more use and it is still in use. */
export function renewAfter(cause: unknown, failed: Factory): void {
  const isOver = isWebKit() && /server lost/i.test(String(cause));
  // A worker has no other one.
  if (!isOver || typeof document === 'undefined') return;
  if (failed.indexedDB !== currentFactory().indexedDB) return;
  renewed?.frame.remove();
  renewed = createFrameFactory();
}

function createFrameFactory(): typeof renewed {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.title = 'IndexedDB';
  document.documentElement.append(frame);
  const inside = frame.contentWindow as Window & typeof globalThis;
  const gone = new AbortController();
  const own = { frame, factory: { indexedDB: inside.indexedDB, gone: gone.signal } };
  // The app may remove it, too.
  inside.addEventListener('pagehide', () => {
    if (renewed === own) renewed = undefined;
    gone.abort();
  });
  return own;
}
