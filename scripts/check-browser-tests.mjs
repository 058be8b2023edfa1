// Compares the numbers of browser tests in the pages with the tests themselves: how many each engine runs, how many of
// these Chromium runs, too, and how many are the core. The package must be built: tests import it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';

/** Lists the tests of each project of `e2e/playwright.config.ts`, by file, line and title. */
async function testsByProject() {
  const output = await run('playwright', ['test', '--list', '--reporter', 'list'], {
    cwd: join(ROOT, 'e2e'),
    quiet: true,
  });
  const projects = new Map();
  for (const [, project, test] of output.matchAll(/^ +\[([\w-]+)\] › (.+)$/gm)) {
    projects.set(project, [...(projects.get(project) ?? []), test]);
  }
  return projects;
}

await runMain(async () => {
  const projects = await testsByProject();
  const testsOf = (project) => {
    const tests = projects.get(project);
    if (tests === undefined) throw new CommandFailed(`no tests of ${project}`);
    return tests;
  };
  const chromium = new Set([...testsOf('untimed'), ...testsOf('timed')]);
  const core = testsOf('core');
  const countOf = (engine) => {
    const tests = testsOf(engine);
    return { all: tests.length, shared: tests.filter((test) => chromium.has(test)).length };
  };
  const sqlite = countOf('chromium-sqlite');
  const firefox = countOf('firefox');
  const webkit = countOf('webkit');
  const counts = [sqlite, firefox, webkit].map(({ all, shared }) => `${all} (${shared})`);
  const expected = {
    'README.md': `All ${chromium.size} browser tests run in Chromium, and ${Math.min(firefox.shared, webkit.shared)} of them in Firefox ESR and WebKitGTK`,
    'docs/browsers.md': `| ${[`${chromium.size}, ${core.length} of them in \`npm test\``, ...counts].join(' | ')} |`,
  };
  for (const [page, text] of Object.entries(expected)) {
    const content = readFileSync(join(ROOT, page), 'utf8');
    if (!content.includes(text)) throw new CommandFailed(`${page} should say: ${text}`);
  }
  console.log(`the pages say how many tests run: ${chromium.size}, ${counts.join(', ')}`);
});
