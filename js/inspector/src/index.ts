/**
 * Opens the inspector: a page that shows the stores of its origin. This module has no code of that page: the app serves
 * it as a separate file, `@hedgerow/inspector/page.html`.
 */
import { HedgerowError, isPlain } from 'hedgerow/kit';

/** Options of `openInspector`. */
export interface InspectorOptions {
  /** The address of the page, on the app's own origin. */
  readonly page: string | URL;
  /** The store to show first; by default, the list of all stores. */
  readonly store?: string | undefined;
  /** A new window, which needs a click or a key press, or a frame in a corner of this page. */
  readonly as?: 'window' | 'corner' | undefined;
}

/** An open inspector. */
export interface Inspector {
  /** Closes it. Idempotent. */
  close(): void;
}

/** The event of a frame by which its page asks to be closed. */
const CLOSE = 'hedgerow-close';

const STYLE =
  'position:fixed;right:8px;bottom:8px;width:min(760px,calc(100vw - 16px));height:min(560px,calc(100vh - 16px));' +
  'border:1px solid #8888;border-radius:8px;box-shadow:0 8px 32px #0004;z-index:2147483647;background:Canvas';

const buildInspectorError = (message: string) =>
  new HedgerowError('invalid-argument', `openInspector: ${message}`);

/** Returns the address with the store in its hash, as `model/page-address.ts` reads it. */
function addressOf({ page, store }: InspectorOptions): URL {
  let url: URL;
  try {
    url = new URL(page, document.baseURI);
  } catch {
    throw buildInspectorError('page must be the address of @hedgerow/inspector/page.html');
  }
  if (url.origin !== location.origin)
    throw buildInspectorError('page must be of the origin of the stores');
  if (store !== undefined && typeof store !== 'string')
    throw buildInspectorError('store must be a string');
  if (store !== undefined) url.hash = `store=${encodeURIComponent(store)}`;
  return url;
}

/**
 * Opens the inspector in a window, or in a frame in a corner of this page. Throws `invalid-argument`, also for a page
 * of another origin, which has other stores. Throws `blocked` when the browser opens no window.
 */
export function openInspector(options: InspectorOptions): Inspector {
  // `base/check-options.ts` is larger than the rest of this module.
  if (!isPlain(options)) throw buildInspectorError('it takes options in a plain object');
  const { as = 'window' } = options;
  if (options.page === undefined) throw buildInspectorError('page is missing');
  if (as !== 'window' && as !== 'corner') throw buildInspectorError('as must be window or corner');
  const { href } = addressOf(options);
  if (as === 'window') {
    const opened = window.open(href, 'hedgerow-inspector', 'popup,width=1100,height=760');
    if (opened) return { close: () => opened.close() };
    throw new HedgerowError('blocked', 'no window was opened: open it in a handler of a click');
  }
  const frame = document.createElement('iframe');
  Object.assign(frame, { src: href, title: 'Hedgerow inspector' });
  frame.style.cssText = STYLE;
  const close = () => frame.remove();
  frame.addEventListener(CLOSE, close);
  document.body.append(frame);
  return { close };
}
