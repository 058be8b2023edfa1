// `npm run alive`: whether loads leave the page alive, in a real browser. Arguments are passed on.

import { build } from './build.mjs';
import { findBrowser } from './lib/browser.mjs';
import { run, runMain } from './lib/run.mjs';
import { setup } from './setup.mjs';

await runMain(async () => {
  await setup({ browser: true });
  await build();
  const env = { CHROMIUM_PATH: findBrowser() };
  await run('node', ['e2e/alive/run.mjs', ...process.argv.slice(2)], { env });
});
