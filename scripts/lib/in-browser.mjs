// Shares code among the commands that run a script in real browsers: they set up, build, and drive browsers.

import { build } from '../build.mjs';
import { setup } from '../setup.mjs';
import { findBrowser } from './browser.mjs';
import { run, runMain } from './run.mjs';

/**
 * Runs a script with the arguments of this process. `packages` is a set of `packages.mjs`; `engines` are the browsers
 * that it drives unless `--engines` names others: `chromium` or `all`.
 */
export function runInBrowser(script, { packages = 'test', engines = 'chromium' } = {}) {
  const args = process.argv.slice(2);
  const isNamed = args.some((arg) => arg.startsWith('--engines'));
  return runMain(async () => {
    await setup({ packages, browser: isNamed ? 'all' : engines });
    await build();
    const env = { CHROMIUM_PATH: findBrowser() };
    await run('node', [script, ...args], { env });
  });
}
