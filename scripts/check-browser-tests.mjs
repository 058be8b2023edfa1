// Compares the numbers of browser tests in the pages with the tests themselves: how many Firefox and WebKitGTK run in `npm test`,
// and how many of these Chromium runs, too. The package must be built: tests import it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';

/** The tests of some projects of `e2e/playwright.config.ts`, by file, line and title. */
async function testsOf(...projects) {
  const args = projects.flatMap((project) => ['--project', project]);
  const output = await run('playwright', ['test', '--list', '--reporter', 'list', ...args], {
    cwd: join(ROOT, 'e2e'),
    env: { E2E_ENGINES: 'core' },
    quiet: true,
  });
  const lines = [...output.matchAll(/^ +\[\w+\] › (.+)$/gm)].map(([, test]) => test);
  if (lines.length === 0) throw new CommandFailed(`no tests of ${projects}: ${output}`);
  return lines;
}

await runMain(async () => {
  const chromium = new Set(await testsOf('untimed', 'timed'));
  const counts = [];
  for (const engine of ['firefox', 'webkit']) {
    const tests = await testsOf(engine);
    const shared = tests.filter((test) => chromium.has(test)).length;
    counts.push({ all: tests.length, shared });
  }
  const [firefox, webkit] = counts;
  const expected = {
    'README.md': [
      `and ${Math.min(firefox.shared, webkit.shared)} of them in Firefox ESR and WebKitGTK`,
    ],
    'docs/browsers.md': [
      `| ${firefox.all} (${firefox.shared} of them Chromium's)`,
      `| ${webkit.all} (${webkit.shared})`,
    ],
  };
  for (const [page, texts] of Object.entries(expected)) {
    const content = readFileSync(join(ROOT, page), 'utf8');
    for (const text of texts)
      if (!content.includes(text)) throw new CommandFailed(`${page} should say: ${text}`);
  }
  console.log(`firefox ${firefox.all} tests, webkit ${webkit.all}: the pages say so`);
});
