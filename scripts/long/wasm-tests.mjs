// `node scripts/long/wasm-tests.mjs [--node] [--chromium]`: runs the core's own tests in WebAssembly, where the code for its
// vectors is compiled, by wasm-pack: in Node, and in a worker of headless Chromium. It names the tests that it leaves
// out, and fails if others have not run. Its last line is `wasm: N passed, M failed, K skipped`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { countLibtest } from '../checks/counts.mjs';
import { findBrowser } from '../lib/browser.mjs';
import { CommandFailed, ROOT, run, runMain, SEARCH_PATH } from '../lib/run.mjs';
import { TESTED_PACKAGES, testsIn } from '../lib/rust-tests.mjs';
import { findChromedriver, TOOLS_BIN } from '../lib/wasm-tools.mjs';
import { setupWasm } from '../setup.mjs';

const NODE = { name: 'Node', args: ['--node'] };

/** Returns Chromium, if there is a driver for it. */
function chromium() {
  const driver = findChromedriver();
  if (driver === undefined) return undefined;
  const file = join(ROOT, '.cache', 'test', 'webdriver.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ 'goog:chromeOptions': { binary: findBrowser() } }));
  return {
    name: 'Chromium',
    args: ['--chrome', '--headless', '--chromedriver', driver],
    env: {
      // A test may take seconds: in a worker, so that the page still answers.
      WASM_BINDGEN_USE_DEDICATED_WORKER: '1',
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: file,
      // Seconds, for all tests of a program and for the start of the driver.
      WASM_BINDGEN_TEST_TIMEOUT: '1800',
      WASM_BINDGEN_TEST_DRIVER_TIMEOUT: '60',
    },
  };
}

/** Runs the tests of a package; returns the runner's counts. */
async function runTests(host, { dir, targets }) {
  // wasm-pack compiles the tests before it runs them: with the same profile it does so once.
  const args = [...host.args, '--mode', 'no-install', dir, '--locked', '--profile', 'test'];
  const env = {
    ...host.env,
    PATH: [TOOLS_BIN, SEARCH_PATH].join(delimiter),
    // Messages name lines without it, and modules are a third as large.
    CARGO_PROFILE_TEST_DEBUG: 'none',
  };
  try {
    return countLibtest(
      await run('wasm-pack', ['test', ...args, ...targets], { capture: true, env }),
    );
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.log(error.message);
    const counts = countLibtest(error.output);
    return { ...counts, failed: Math.max(1, counts.failed) };
  }
}

/** Runs all tests in a host; a test of the sources that has not run fails. */
async function runIn(host) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const tested of TESTED_PACKAGES) {
    console.log(`\n${tested.dir}, in ${host.name}`);
    const counts = await runTests(host, tested);
    const { count, nativeOnly } = testsIn(tested);
    const absent = count - nativeOnly.length - counts.passed - counts.failed - counts.skipped;
    if (absent !== 0) {
      console.log(`${tested.dir}: ${count} tests in the sources, of which ${absent} have not run`);
      counts.failed += Math.abs(absent);
    }
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped + nativeOnly.length;
  }
  return total;
}

await runMain(async () => {
  const options = { node: { type: 'boolean' }, chromium: { type: 'boolean' } };
  const { values } = parseArgs({ options });
  const isChosen = (name) => values[name] || Object.keys(values).length === 0;
  await setupWasm();
  const packages = TESTED_PACKAGES.map(testsIn);
  const hosts = [];
  if (isChosen('node')) hosts.push(NODE);
  if (isChosen('chromium')) hosts.push(chromium());
  const results = [];
  for (const host of hosts) {
    const all = packages.reduce((sum, { count }) => sum + count, 0);
    results.push(host ? await runIn(host) : { passed: 0, failed: 0, skipped: all });
  }
  for (const { file, name, why } of packages.flatMap(({ nativeOnly }) => nativeOnly))
    console.log(`left out: ${file}, ${name}: ${why}`);
  console.log('left out: crate/support, whose tests are those of tools for tests');
  if (hosts.includes(undefined))
    console.log('left out: Chromium, for which chromedriver is missing');
  const total = (key) => results.reduce((sum, counts) => sum + counts[key], 0);
  console.log(
    `wasm: ${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`,
  );
  if (total('failed') > 0) process.exitCode = 1;
});
