// `npm run units`: runs the suites of `js/hedgerow/test` in real browsers. Passes on its arguments.

import { runInBrowser } from '../lib/in-browser.mjs';

await runInBrowser('js/hedgerow/test/browser/run.mjs', { engines: 'all' });
