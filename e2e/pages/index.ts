// The page that tests drive: it loads the package and does no more.

declare global {
  interface Window {
    /** All exports of the package, for `page.evaluate`. Set once it has loaded. */
    hedgerow: typeof import('hedgerow');
  }
}

window.hedgerow = await import('hedgerow');

export {};
