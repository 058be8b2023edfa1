// `npm run torture`: whether anything is lost when a real browser is killed, crashes, runs out
// of room or drops its connections. Arguments are passed on.

import { build } from './build.mjs';
import { findBrowser } from './lib/browser.mjs';
import { run, runMain } from './lib/run.mjs';
import { setup } from './setup.mjs';

await runMain(async () => {
  await setup({ browser: true });
  await build();
  const env = { CHROMIUM_PATH: findBrowser() };
  await run('node', ['e2e/torture/run.mjs', ...process.argv.slice(2)], { env });
});
