// `npm run bench`: runs the benchmarks in a real browser. Passes on its arguments.

import { runInBrowser } from './lib/in-browser.mjs';

await runInBrowser('e2e/bench/run.mjs', { packages: 'bench' });
