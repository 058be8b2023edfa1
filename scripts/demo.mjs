// `npm run demo`: builds the demo for production and serves it until interrupted, with a reference server beside it, under
// `remote/` of the same address, for the page of two devices. With `--headless` it
// runs `demo/headless.mjs <url>` instead, with the remaining arguments, and exits with its code. With
// `--as-built` it does not set up or build the package.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build as buildPackage } from './build.mjs';
import { findBrowser } from './lib/browser.mjs';
import { ROOT, run, runMain } from './lib/run.mjs';
import { servePage } from './lib/serve.mjs';
import { setup } from './setup.mjs';

const DEMO_DIR = join(ROOT, 'demo');

async function serveDemo(port) {
  if (existsSync(join(DEMO_DIR, 'prepare.mjs'))) await run('node', ['demo/prepare.mjs']);
  // Imported late: it needs the package, as built.
  const { startRemote } = await import('../demo/remote.mjs');
  const remote = await startRemote();
  // One address for both: it also works through a tunnel.
  const proxy = {
    '/remote/': { target: remote.url, rewrite: (path) => path.replace(/^\/remote/, '') },
  };
  try {
    const page = await servePage({ root: DEMO_DIR, logLevel: 'warn', port, server: { proxy } });
    return { port: page.port, close: () => Promise.all([page.close(), remote.close()]) };
  } catch (cause) {
    await remote.close();
    throw cause;
  }
}

async function main() {
  const args = process.argv.slice(2);
  const headless = args.includes('--headless');
  if (!args.includes('--as-built')) {
    await setup({ browser: headless });
    await buildPackage();
  }

  const server = await serveDemo(headless ? 0 : 4173);
  const url = `http://127.0.0.1:${server.port}/`;
  console.log(`\ndemo        ${url}\ntwo devices ${url}devices.html`);
  if (!headless) return;

  try {
    const passedOn = args.filter((arg) => !['--headless', '--as-built'].includes(arg));
    const env = { CHROMIUM_PATH: findBrowser() };
    await run('node', ['demo/headless.mjs', url, ...passedOn], { env });
  } finally {
    await server.close();
  }
}

await runMain(main);
