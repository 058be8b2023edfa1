/**
 * The `indexedDB` that databases are opened with. WebKit keeps IndexedDB in its network process. When that process has
 * ended, as iOS may end it while an app is in the background, the `indexedDB` of a document fails until the document
 * is loaded again: "Connection to Indexed Database server lost. Refresh the page to try again". That of a new document
 * works: here, that of a hidden, empty frame.
 */
import { isWebKit } from './engine-name.js';

let frame: HTMLIFrameElement | undefined;

/** Throws where there is none. */
export function factory(): IDBFactory {
  // An app may have removed the frame.
  return frame?.contentWindow?.indexedDB ?? globalThis.indexedDB;
}

/** Takes another document's, if `cause` says that this one's fails from now on. */
export function renewAfter(cause: unknown): void {
  const isOver = isWebKit() && /server lost/i.test(String(cause));
  // A worker has no other one.
  if (!isOver || typeof document === 'undefined') return;
  frame?.remove();
  frame = document.createElement('iframe');
  frame.hidden = true;
  frame.title = 'IndexedDB';
  document.documentElement.append(frame);
}
