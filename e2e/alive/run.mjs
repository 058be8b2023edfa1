// Does a load leave the page alive? See docs/responsiveness.md. `npm run alive` builds first.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { withBrowser } from '../bench/lib/browser.mjs';
import { environment } from '../bench/lib/environment.mjs';
import { Progress } from '../bench/lib/progress.mjs';
import { readArguments } from './lib/arguments.mjs';
import { draw } from './lib/plot.mjs';
import { printReport } from './lib/report.mjs';
import { timeHidden, timeSlicing } from './lib/timing.mjs';
import { traceAll } from './lib/trace.mjs';
import { watchAll } from './lib/watching.mjs';

const CONFIG = fileURLToPath(new URL('vite.config.ts', import.meta.url));
const RESULTS = fileURLToPath(new URL('results/', import.meta.url));
const PLOT = fileURLToPath(new URL('../../docs/plots/alive.svg', import.meta.url));

async function main() {
  const options = readArguments(process.argv.slice(2));
  const progress = new Progress();
  const startedAt = new Date();
  const show = (text) => progress.show(text);
  show('building the page and starting Chromium');
  const page = { profile: false, config: CONFIG, global: 'alive' };
  const results = await withBrowser(page, async (browser) => {
    const scenarios = await watchAll(browser, options, show);
    const slicing = await timeSlicing(browser, options, show);
    const traces = await traceAll(browser, scenarios, show);
    show('reads during a load');
    await browser.visit('alive');
    const reads = await browser.call('readWhileLoading', options.shortRows);
    // The files of the databases are still there, which tell what keeps them.
    const about = await environment(browser);
    const hidden = await timeHidden(browser, options, show);
    return { ...about, scenarios, traces, slicing, reads, hidden };
  });
  progress.clear();

  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const report = { schema: 1, startedAt: startedAt.toISOString(), seconds, options, ...results };
  printReport(report);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(report, null, 1)}\n`);
  // A quick run is no measurement.
  if (!options.quick) await writeFile(PLOT, draw(report));
  if (results.reads.wrong.length > 0) process.exitCode = 1;
  console.log(`\nwritten to ${RESULTS}latest.json in ${seconds} s`);
}

try {
  await main();
} catch (error) {
  console.error('\nalive:', error);
  process.exitCode = 1;
}
