// Runs the tests of the other engines on this machine, Firefox and WebKitGTK, and names the missing ones.

import { run, runMain } from '../scripts/lib/run.mjs';
import { ENGINES, installed } from './lib/engines/index.mjs';

await runMain(async () => {
  const found = installed([ENGINES.firefox, ENGINES.webkit]);
  for (const engine of found) console.log(`${engine.name.padEnd(12)}${engine.find().version}`);
  const projects = found.map(({ name }) => `--project=${name}`);
  if (found.length === 0) {
    console.log('None of them is here: only the smoke test runs, in Chromium.');
    projects.push('--project=untimed', 'smoke.spec');
  }
  // Firefox and WebKitGTK take longer for each than Chromium does.
  const env = { HEDGEROW_INCREMENTS: process.env.HEDGEROW_INCREMENTS ?? '250' };
  await run('playwright', ['test', ...projects, ...process.argv.slice(2)], {
    cwd: import.meta.dirname,
    env,
  });
});
