// `npm run alive`: checks in a real browser that a page stays responsive during loads. Passes on its arguments.

import { runInBrowser } from '../lib/in-browser.mjs';

await runInBrowser('e2e/alive/run.mjs');
