// The common part of `npm run bench`, `alive` and `torture`: set up, build, and drive a real browser.

import { build } from '../build.mjs';
import { setup } from '../setup.mjs';
import { findBrowser } from './browser.mjs';
import { run, runMain } from './run.mjs';

/** Runs a script of `e2e` with the arguments of this process. */
export function runInBrowser(script) {
  return runMain(async () => {
    await setup({ browser: true });
    await build();
    const env = { CHROMIUM_PATH: findBrowser() };
    await run('node', [script, ...process.argv.slice(2)], { env });
  });
}
