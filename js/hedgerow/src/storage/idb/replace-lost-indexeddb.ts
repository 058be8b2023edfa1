/**
 * The `indexedDB` that opens databases. WebKit keeps IndexedDB in its network process. After the end of that process,
 * which iOS may end while an app is in the background, the `indexedDB` of a document fails until the document is loaded
 * again: "Connection to Indexed Database server lost. Refresh the page to try again". The `indexedDB` of a new document
 * works: here, of a hidden, empty frame.
 */
import { isWebKit } from '../../base/browser-engine.js';
import { buildLostError } from './failures.js';

/** The `indexedDB` of a document. */
export interface Factory {
  readonly indexedDB: IDBFactory;
  /** Aborted at the end of the document, which answers no request under way. Absent for the page's own document. */
  readonly gone?: AbortSignal;
}

/** A factory that works, and its frame. */
let renewed: { readonly factory: Factory; readonly frame: HTMLIFrameElement } | undefined;

/** The `Factory.gone` of each database. */
export const goneOf = new WeakMap<IDBDatabase, AbortSignal>();

/** Waits for `work`; rejects as for a lost connection when its document goes. */
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

/** Returns the factory to use. The caller has checked that `indexedDB` exists. */
export function currentFactory(): Factory {
  return renewed?.factory ?? { indexedDB: globalThis.indexedDB };
}

/** Switches to another document's `indexedDB` if `cause` says that `failed`, the current one, works no more. */
export function renewAfter(cause: unknown, failed: Factory): void {
  const isOver = isWebKit() && /server lost/i.test(String(cause));
  // A worker has no other document.
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
  // The app may also remove the frame.
  inside.addEventListener('pagehide', () => {
    if (renewed === own) renewed = undefined;
    gone.abort();
  });
  return own;
}
