// The benchmarks in a real browser: see README.md. `npm run bench` builds the package first.

import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readArguments } from './lib/arguments.mjs';
import { withBrowser } from './lib/browser.mjs';
import { budgets } from './lib/budgets.mjs';
import { environment } from './lib/environment.mjs';
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
  const options = readArguments(process.argv.slice(2));
  const progress = new Progress();
  const startedAt = new Date();
  progress.show('building the page and starting Chromium');
  const { cases, growth, about } = await withBrowser(options, async (browser) => {
    await browser.call('leaveDatabase');
    const rowBytes = await browser.call('rowBytes', Math.min(options.rows, 10_000));
    const before = await environment(browser);
    const outcome = await runSuites(browser, options, progress);
    return { ...outcome, about: { ...before, rowBytes } };
  });
  progress.clear();

  const report = {
    schema: 2,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    options,
    ...about,
    cases,
    growth,
    sysbench: sysbenchOf(cases),
    budgets: budgets(cases, options),
  };
  report.machine.loadAverage = loadavg()[0];
  printEnvironment(report);
  for (const one of cases) printCase(one);
  printGrowth(growth);
  if (report.sysbench !== null) printSysbench(report.sysbench);
  printBudgets(report.budgets);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(`${RESULTS}report.html`, htmlReport(report));
  // A wrong answer is a failure; a missed budget is not.
  const all = [...cases, ...growth.flatMap((size) => size.cases)];
  const rows = all.flatMap(({ ours, floor, peers, variants }) => [
    ours,
    floor,
    ...peers,
    ...variants,
  ]);
  if (rows.some((row) => row?.failed !== undefined)) process.exitCode = 1;
  console.log(`\nwritten to ${RESULTS}latest.json and report.html in ${report.seconds} s`);
}

try {
  await main();
} catch (error) {
  console.error('\nbench:', error);
  process.exitCode = 1;
}
