// What `npm run bench`, `alive` and `torture` have in common: they set up and build, then drive a real browser.

import { build } from '../build.mjs';
import { setup } from '../setup.mjs';
import { findBrowser } from './browser.mjs';
import { run, runMain } from './run.mjs';

/** Runs a script of `e2e` with the arguments of this command. */
export function runInBrowser(script) {
  return runMain(async () => {
    await setup({ browser: true });
    await build();
    const env = { CHROMIUM_PATH: findBrowser() };
    await run('node', [script, ...process.argv.slice(2)], { env });
  });
}
