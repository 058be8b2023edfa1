// Measures whether a load leaves the page alive: see docs/responsiveness.md. `npm run alive` builds first.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { withBrowser } from '../bench/lib/browser.mjs';
import { environment } from '../bench/lib/environment.mjs';
import { Progress } from '../bench/lib/progress.mjs';
import { enginesOf, installed, isChromium } from '../lib/engines/index.mjs';
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
  const { engines, ...options } = readArguments(process.argv.slice(2));
  const found = installed(enginesOf(engines)).map(({ name }) => name);
  for (const engine of found) await runIn(engine, options);
  // A run without a requested engine is no success.
  if (found.length < engines.length) process.exitCode = 1;
}

async function runIn(engine, options) {
  const progress = new Progress();
  const startedAt = new Date();
  const show = (text) => progress.show(text);
  show(`building the page and starting ${engine}`);
  const page = { engine, config: CONFIG, global: 'alive' };
  const results = await withBrowser(page, (browser) => measure(browser, options, show));
  progress.clear();

  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const report = {
    schema: 2,
    engine,
    startedAt: startedAt.toISOString(),
    seconds,
    options,
    ...results,
  };
  printReport(report);
  await mkdir(RESULTS, { recursive: true });
  const name = engine === 'chromium' ? 'latest' : `latest-${engine}`;
  await writeFile(`${RESULTS}${name}.json`, `${JSON.stringify(report, null, 1)}\n`);
  // The plot shows a full run in Chromium; a quick one is no measurement.
  if (engine === 'chromium' && options.only === null && !options.quick) {
    await writeFile(PLOT, draw(report));
  }
  if (results.reads !== undefined && results.reads.wrong.length > 0) process.exitCode = 1;
  console.log(`\nwritten to ${RESULTS}${name}.json in ${seconds} s`);
}

/** Measures one browser. Only Chromium has traces and really hidden pages. */
async function measure(browser, options, show) {
  const hasProtocol = isChromium(browser.engine);
  const scenarios = await watchAll(browser, options, show);
  // The files of the databases, which show the backend, are still there.
  const about = await environment(browser);
  if (options.only !== null) return { ...about, scenarios, traces: [] };
  const slicing = await timeSlicing(browser, options, show);
  const traces = hasProtocol ? await traceAll(browser, scenarios, show) : [];
  show('reads during a load');
  await browser.visit('alive');
  const reads = await browser.call('readWhileLoading', options.shortRows);
  const hidden = hasProtocol ? await timeHidden(browser, options, show) : undefined;
  return { ...about, scenarios, traces, slicing, reads, hidden };
}

try {
  await main();
} catch (error) {
  console.error('\nalive:', error);
  process.exitCode = 1;
}
