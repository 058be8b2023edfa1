// Runs three real browsers behind one interface, each on a profile on disk. Chromium is two engines, by the backend of
// IndexedDB:
//
//   const browser = await engine.launch(profileDir, { quotaBytes, isPrivate });
//   const page = await browser.newPage();
//   await page.goto(url);
//   await page.evaluate((a, b) => a + b, 1, 2);   // arguments and result as JSON
//   await page.close();
//   await browser.close();                         // or kill(): all of its processes, at once
//
// `browser.pid` is the first process of its group. `page.onReport` is called with the text of each `report(text)` in
// the page; `page.uncaught()` returns the uncaught errors.

import { chromium, chromiumSqlite, QUIET_FLAGS } from './chromium.mjs';
import { firefox } from './firefox.mjs';
import { webkit } from './webkit.mjs';

/** The engines that `../arguments.mjs` names. */
export const ENGINES = { chromium, 'chromium-sqlite': chromiumSqlite, firefox, webkit };

export { QUIET_FLAGS };

/** Whether an engine of this name has Playwright's protocol: only Chromium has. */
export const isChromium = (name) => ENGINES[name].browser === 'chromium';

/** Returns those `engines` that this machine has, and names the missing ones on stderr. */
export function installed(engines = Object.values(ENGINES)) {
  return engines.filter((engine) => {
    const isFound = engine.find() !== undefined;
    if (!isFound)
      console.error(`*** ${engine.name} is missing, and not tested: npm run setup -- --browser`);
    return isFound;
  });
}

/** Returns the engines of names that `engineNames` has read. */
export function enginesOf(names) {
  return names.map((name) => ENGINES[name]);
}
