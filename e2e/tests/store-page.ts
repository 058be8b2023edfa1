/** Shares helpers among the specs of the whole store. */
import type { Page } from './fixtures.js';

/** Loads the page of these specs, with `window.hedgerow` and its helpers ready. */
export async function visit<P extends Page>(page: P): Promise<P> {
  await page.goto('/store.html');
  await page.waitForFunction(() => window.countRecords !== undefined);
  return page;
}

/** Opens a store into `window.db`; resolves to its root. */
export function openStore(page: Page, name: string): Promise<string> {
  return page.evaluate(async (name) => {
    window.db = await window.hedgerow.open(name);
    return window.db.root;
  }, name);
}

/** Returns the root, the number of rows, and a hash of all rows as a scan gives them. */
export function stateOf(page: Page) {
  return page.evaluate(async () => {
    const entries = await window.db.scan().toArray();
    return {
      root: window.db.root,
      count: await window.db.count(),
      digest: await window.digest(entries),
    };
  });
}
