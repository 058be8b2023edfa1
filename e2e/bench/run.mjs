// Runs the benchmarks in real browsers: see README.md. `npm run bench` builds the package first.

import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { enginesOf, installed } from '../lib/engines/index.mjs';
import { readArguments } from './lib/arguments.mjs';
import { withBrowser } from './lib/browser.mjs';
import { budgets } from './lib/budgets.mjs';
import { environment } from './lib/environment.mjs';
import { glance } from './lib/glance.mjs';
import { htmlReport } from './lib/html.mjs';
import { Progress } from './lib/progress.mjs';
import {
  printBudgets,
  printCase,
  printEnvironment,
  printGrowth,
  printSysbench,
} from './lib/report.mjs';
import { runSuites } from './lib/rounds.mjs';
import { sysbenchOf } from './lib/sysbench.mjs';

const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

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
  const startLoad = loadavg()[0];
  progress.show(`building the page and starting ${engine}`);
  const { profile } = options;
  const { cases, growth, about } = await withBrowser({ engine, profile }, async (browser) => {
    await browser.call('leaveDatabase');
    const rowBytes = await browser.call('rowBytes', Math.min(options.rows, 10_000));
    const before = await environment(browser);
    const outcome = await runSuites(browser, options, progress);
    return { ...outcome, about: { ...before, rowBytes } };
  });
  progress.clear();

  const report = {
    schema: 3,
    engine,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    options,
    ...about,
    cases,
    growth,
    sysbench: sysbenchOf(cases),
    budgets: budgets(cases, options, about.rowBytes),
  };
  report.machine.loadAverageBefore = startLoad;
  report.machine.loadAverage = loadavg()[0];
  printEnvironment(report);
  for (const one of cases) printCase(one);
  printGrowth(growth);
  if (report.sysbench !== null) printSysbench(report.sysbench);
  printBudgets(report.budgets);
  await mkdir(RESULTS, { recursive: true });
  // The plots of the docs show Chromium.
  const name = engine === 'chromium' ? 'latest' : `latest-${engine}`;
  const page = engine === 'chromium' ? 'report' : `report-${engine}`;
  await writeFile(`${RESULTS}${name}.json`, `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(`${RESULTS}${page}.html`, htmlReport(report));
  await writeFile(`${RESULTS}${page}.md`, glance(report));
  // A wrong answer is a failure, and so is a mean of sysbench below its limit; a missed budget is not.
  const all = [...cases, ...growth.flatMap((size) => size.cases)];
  const rows = all.flatMap(({ ours, floor, peers, variants }) => [
    ours,
    floor,
    ...peers,
    ...variants,
  ]);
  const isSlow = report.sysbench?.pairs.some(({ least, geometricMean }) => geometricMean < least);
  if (isSlow || rows.some((row) => row?.failed !== undefined)) process.exitCode = 1;
  console.log(`\nwritten to ${RESULTS}${name}.json, ${page}.html and .md in ${report.seconds} s`);
}

try {
  await main();
} catch (error) {
  console.error('\nbench:', error);
  process.exitCode = 1;
}
