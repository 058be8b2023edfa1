// `npm run alive`: whether loads leave the page alive, in a real browser. Arguments are passed on.

import { runInBrowser } from './lib/in-browser.mjs';

await runInBrowser('e2e/alive/run.mjs');
