// `npm run units`: runs the suites of `js/test` in real browsers. Passes on its arguments.

import { runInBrowser } from './lib/in-browser.mjs';

await runInBrowser('js/test/browser/run.mjs', { engines: 'all' });
