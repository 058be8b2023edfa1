// Runs Chromium as a user starts it: Playwright keeps every page that it opens visible, and its timers unthrottled.
// Here a tab that covers a page hides it.

import { ENGINES } from '../../lib/engines/index.mjs';

/** Runs `work` with a page of Playwright in a Chromium on the profile, and closes the browser in the end. */
export async function withPlainBrowser({ profileDir, engine = ENGINES.chromium }, work) {
  const browser = await engine.launch(profileDir);
  try {
    const { context } = browser;
    const result = await work(context.pages()[0] ?? (await context.newPage()));
    await browser.close();
    return result;
  } finally {
    await browser.kill();
  }
}

/** Covers the page with another tab while `work` runs. */
export async function covered(page, work) {
  const other = await page.context().newPage();
  try {
    await other.bringToFront();
    return await work();
  } finally {
    await other.close();
    await page.bringToFront();
  }
}
