// The benchmarks in a real browser: see README.md. `npm run bench` builds the package first.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readArguments } from './lib/arguments.mjs';
import { withBrowser } from './lib/browser.mjs';
import { budgets } from './lib/budgets.mjs';
import { environment } from './lib/environment.mjs';
import { Progress } from './lib/progress.mjs';
import { printBudgets, printCase, printEnvironment } from './lib/report.mjs';
import { runCases } from './lib/rounds.mjs';

const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

async function main() {
  const options = readArguments(process.argv.slice(2));
  const progress = new Progress();
  const startedAt = new Date();
  progress.show('building the page and starting Chromium');
  const { results, about } = await withBrowser(options, async (browser) => {
    const rowBytes = await browser.call('rowBytes', options.rows);
    const results = await runCases(browser, options, progress);
    // The files of the databases are still there, which tell what keeps them.
    return { results, about: { ...(await environment(browser)), rowBytes } };
  });
  progress.clear();

  const report = {
    schema: 1,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    options,
    ...about,
    cases: results,
    budgets: budgets(results, options),
  };
  printEnvironment(report);
  for (const result of results) printCase(result);
  printBudgets(report.budgets);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(report, null, 2)}\n`);
  // A wrong answer is a failure; a missed budget is not.
  if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;
  console.log(`\nwritten to ${RESULTS}latest.json in ${report.seconds} s`);
}

try {
  await main();
} catch (error) {
  console.error('\nbench:', error);
  process.exitCode = 1;
}
