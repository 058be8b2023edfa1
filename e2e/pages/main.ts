// The page that tests drive: it loads the package and does nothing with it.

declare global {
  interface Window {
    /** All that the package exports, for `page.evaluate`. Set once it has loaded. */
    hedgerow: typeof import('hedgerow');
  }
}

window.hedgerow = await import('hedgerow');

export {};
