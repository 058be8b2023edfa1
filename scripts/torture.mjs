// `npm run torture`: whether anything is lost when a real browser is killed, crashes, runs out
// of room or drops its connections. Arguments are passed on.

import { runInBrowser } from './lib/in-browser.mjs';

await runInBrowser('e2e/torture/run.mjs');
