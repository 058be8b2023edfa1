// Compares the numbers of browser tests in the pages with the tests themselves: how many each engine runs, how many of
// these Chromium runs, too, and how many are the core. The package must be built: tests import it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';

/** The tests of some projects of `e2e/playwright.config.ts`, by file, line and title. */
async function testsOf(...projects) {
  const args = projects.flatMap((project) => ['--project', project]);
  const output = await run('playwright', ['test', '--list', '--reporter', 'list', ...args], {
    cwd: join(ROOT, 'e2e'),
    quiet: true,
  });
  const lines = [...output.matchAll(/^ +\[[\w-]+\] › (.+)$/gm)].map(([, test]) => test);
  if (lines.length === 0) throw new CommandFailed(`no tests of ${projects}: ${output}`);
  return lines;
}

await runMain(async () => {
  const chromium = new Set(await testsOf('untimed', 'timed'));
  const core = await testsOf('core');
  const countOf = async (engine) => {
    const tests = await testsOf(engine);
    return { all: tests.length, shared: tests.filter((test) => chromium.has(test)).length };
  };
  const sqlite = await countOf('chromium-sqlite');
  const firefox = await countOf('firefox');
  const webkit = await countOf('webkit');
  const counts = [sqlite, firefox, webkit].map(({ all, shared }) => `${all} (${shared})`);
  const expected = {
    'README.md': `and ${Math.min(firefox.shared, webkit.shared)} of them in Firefox ESR and WebKitGTK`,
    'docs/browsers.md': `| ${[`${chromium.size}, ${core.length} of them in \`npm test\``, ...counts].join(' | ')} |`,
  };
  for (const [page, text] of Object.entries(expected)) {
    const content = readFileSync(join(ROOT, page), 'utf8');
    if (!content.includes(text)) throw new CommandFailed(`${page} should say: ${text}`);
  }
  console.log(`the pages say how many tests run: ${chromium.size}, ${counts.join(', ')}`);
});
