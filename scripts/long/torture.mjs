// `npm run torture`: checks that no data is lost when a real browser is killed, crashes, runs out of space or drops its
// connections. Passes on its arguments.

import { runInBrowser } from '../lib/in-browser.mjs';

await runInBrowser('e2e/torture/run.mjs');
