// `node scripts/long/same-root.mjs`: runs one history of a store on every platform, and compares the root after each
// step: WebAssembly in Node, over memory and over SQLite; plain JavaScript in Hermes; WebAssembly in Chromium.
// Fails unless each step has the same root everywhere.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from '../build.mjs';
import { buildForReactNative } from '../build-react-native.mjs';
import { findBrowser } from '../lib/browser.mjs';
import { bundleWithMetro, compileForHermes, runInHermes } from '../lib/hermes.mjs';
import { ROOT, runMain } from '../lib/run.mjs';
import { workload } from './platforms/workload.js';

const COUNT = 2000;
const DIST = join(ROOT, 'js', 'hedgerow', 'dist');
const PLATFORMS = join(ROOT, 'scripts', 'long', 'platforms');
const load = (...path) => import(pathToFileURL(join(DIST, ...path)).href);

async function nodeOverMemory() {
  const { memory, open } = await load('index.js');
  const { db, steps } = await workload({ open, storage: memory(), name: 'roots', count: COUNT });
  await db.close();
  return steps;
}

async function nodeOverSqlite() {
  const [{ open }, { sqlite }] = [await load('index.js'), await load('storage', 'sql', 'node.js')];
  const location = await mkdtemp(join(tmpdir(), 'hedgerow-roots-'));
  try {
    const storage = sqlite({ location });
    const { db, steps } = await workload({ open, storage, name: 'roots', count: COUNT });
    await db.close();
    return steps;
  } finally {
    await rm(location, { recursive: true, force: true });
  }
}

async function hermesOverMemory() {
  const polyfills = [join(PLATFORMS, 'hermes-host.js')];
  const code = await bundleWithMetro('scripts/long/platforms', 'hermes-roots.js', { polyfills });
  return JSON.parse(await runInHermes(await compileForHermes('roots', code)));
}

async function chromiumOverIndexedDb() {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: join(PLATFORMS, 'browser-roots.js'),
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  const server = createServer((request, response) => {
    const isScript = request.url === '/roots.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? output[0].code : '<script type="module" src="/roots.js"></script>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const require = createRequire(join(ROOT, 'e2e', 'package.json'));
  const { chromium } = require('@playwright/test');
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction('globalThis.roots !== undefined');
    return await page.evaluate((count) => globalThis.roots(count), COUNT);
  } finally {
    await browser.close();
    server.close();
  }
}

/** The columns of the table; a platform is never skipped. */
const COLUMNS = [
  ['Node, memory', nodeOverMemory],
  ['Node, SQLite', nodeOverSqlite],
  ['Hermes, memory', hermesOverMemory],
  ['Chromium, IndexedDB', chromiumOverIndexedDb],
];

await runMain(async () => {
  await build();
  await buildForReactNative();
  const columns = [];
  for (const [name, run] of COLUMNS) columns.push([name, await run()]);
  for (const [at, [step]] of columns[0][1].entries()) {
    console.log(`\n${step}`);
    for (const [name, steps] of columns) console.log(`  ${steps[at]?.[1]}  ${name}`);
  }
  const [first, ...others] = columns.map(([, steps]) => JSON.stringify(steps));
  const isSame = others.every((other) => other === first);
  console.log(isSame ? `\none root on ${columns.length} platforms` : '\nthe roots differ');
  if (!isSame) process.exitCode = 1;
});
