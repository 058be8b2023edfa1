// `npm run demo`: builds the demo and serves it until interrupted, with a reference server under `remote/` of the same
// address, for the page of two devices. The core is built for development, in seconds; with `--release` as it ships.
// With `--headless` it runs `demo/headless.mjs <url>` instead, with the remaining arguments, and exits with its code;
// with `--headless --picture <file>` that draws the race, too, of the core as it ships. With `--as-built` it does not
// set up or build the package.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCore, buildPackages } from './build.mjs';
import { findBrowser } from './lib/browser.mjs';
import { isDevBuild, RELEASE_COMMAND, refuseDevBuild } from './lib/dev-build.mjs';
import { hashInputs } from './lib/hash-inputs.mjs';
import { ROOT, run, runMain } from './lib/run.mjs';
import { buildPage, serveBuiltPage } from './lib/serve.mjs';
import { during } from './lib/waiting.mjs';
import { allOf, setupPackages, setupRust } from './setup.mjs';

const DEMO_DIR = join(ROOT, 'demo');
const PAGE = { root: DEMO_DIR, logLevel: 'warn' };
/** Vite empties its folder before it builds, so the stamp means that a build has ended. */
const STAMP_FILE = join(DEMO_DIR, 'dist', '.inputs');
const PAGE_INPUTS = [
  'demo',
  'js/hedgerow/dist',
  'js/hedgerow/package.json',
  'package-lock.json',
  'scripts/lib/dev-build.mjs',
];
/** Made from the inputs; `demo/prepare.mjs` records its own inputs in `cities.meta.json`. */
const NO_INPUTS = [
  'dist',
  'node_modules',
  ...['', 'shuffled.', 'largest.'].map((name) => `public/data/cities.${name}ndjson`),
].map((name) => `demo/${name}`);
const OWN_FLAGS = ['--headless', '--as-built', '--release'];

/** Installs the packages of the demo, and builds the package. */
async function makePackage({ isHeadless, isRelease }) {
  const browser = isHeadless ? 'chromium' : 'none';
  if (isRelease) {
    await allOf([setupPackages({ packages: ['demo', 'build'], browser }), setupRust()]);
    await during('building the core', () => buildCore());
    return during('building the package', () => buildPackages());
  }
  // For development the core needs no npm package: it is compiled while these are installed.
  const core = async () => {
    await setupRust();
    await during('compiling the core', () => buildCore({ dev: true }));
  };
  await allOf([setupPackages({ packages: 'demo', browser }), core()]);
  await buildPackages({ types: false });
}

/** Builds the pages, unless they are up to date. */
async function makePages() {
  await run('node', ['demo/prepare.mjs']);
  const inputs = await hashInputs(PAGE_INPUTS, { without: NO_INPUTS });
  const last = await readFile(STAMP_FILE, 'utf8').catch(() => undefined);
  const isCurrent = last === inputs;
  if (!isCurrent) {
    await during('building the pages', () => buildPage(PAGE));
    await writeFile(STAMP_FILE, inputs);
  }
  console.log(`pages       ${isCurrent ? 'up to date' : 'built'}: demo/dist`);
}

async function serveDemo(port) {
  // Imported late: it needs the built package.
  const { startRemote } = await import('../demo/remote.mjs');
  const remote = await startRemote();
  // One address for both: it also works through a tunnel.
  const proxy = {
    '/remote/': { target: remote.url, rewrite: (path) => path.replace(/^\/remote/, '') },
  };
  try {
    const page = await serveBuiltPage({ ...PAGE, port, server: { proxy } });
    return { port: page.port, close: () => Promise.all([page.close(), remote.close()]) };
  } catch (cause) {
    await remote.close();
    throw cause;
  }
}

async function main() {
  const args = process.argv.slice(2);
  const isHeadless = args.includes('--headless');
  const hasPicture = args.includes('--picture');
  if (!args.includes('--as-built')) {
    await makePackage({ isHeadless, isRelease: hasPicture || args.includes('--release') });
  }
  // The picture is published.
  if (hasPicture) refuseDevBuild();
  await makePages();
  const server = await serveDemo(isHeadless ? 0 : 4173);
  const url = `http://127.0.0.1:${server.port}/`;
  console.log(`\ndemo        ${url}\ntwo devices ${url}devices.html`);
  if (isDevBuild()) console.log(`\ndevelopment build; ${RELEASE_COMMAND} builds what ships`);
  if (!isHeadless) return;
  try {
    const passedOn = args.filter((arg) => !OWN_FLAGS.includes(arg));
    const env = { CHROMIUM_PATH: findBrowser() };
    await run('node', ['demo/headless.mjs', url, ...passedOn], { env });
  } finally {
    await server.close();
  }
}

await runMain(main);
