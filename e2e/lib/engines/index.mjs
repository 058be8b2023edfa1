// Three browsers behind one interface, each a real one on a profile on disk; Chromium is two engines, by what keeps
// IndexedDB:
//
//   const browser = await engine.launch(profileDir, { quotaBytes, isPrivate });
//   const page = await browser.newPage();
//   await page.goto(url);
//   await page.evaluate((a, b) => a + b, 1, 2);   // arguments and result as JSON
//   await page.close();
//   await browser.close();                         // or kill(): all of its processes, at once
//
// `browser.pid` is the first process of its group. `page.onReport` is called with what the page gives
// to `report(text)`; `page.uncaught()` tells the errors that nobody caught.

import { chromium, chromiumSqlite } from './chromium.mjs';
import { firefox } from './firefox.mjs';
import { webkit } from './webkit.mjs';

/** Those that `../arguments.mjs` names. */
export const ENGINES = { chromium, 'chromium-sqlite': chromiumSqlite, firefox, webkit };

/** Whether an engine of this name has Playwright's protocol, which only Chromium has. */
export const isChromium = (name) => ENGINES[name].browser === 'chromium';

/** Those of `engines` that this machine has. The others are named on stderr, and left out. */
export function installed(engines = Object.values(ENGINES)) {
  return engines.filter((engine) => {
    const isFound = engine.find() !== undefined;
    if (!isFound)
      console.error(`*** ${engine.name} is missing, and not tested: npm run setup -- --browser`);
    return isFound;
  });
}

/** The engines of names that `engineNames` has read. */
export function enginesOf(names) {
  return names.map((name) => ENGINES[name]);
}
