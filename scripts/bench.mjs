// `npm run bench`: the benchmarks in a real browser. Arguments are passed on.

import { runInBrowser } from './lib/in-browser.mjs';

await runInBrowser('e2e/bench/run.mjs');
