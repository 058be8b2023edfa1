// Runs the tests that localForage has for its drivers, in Chromium, with its published package. Hedgerow's driver takes
// the name, and so the place, of localForage's own for IndexedDB: all tests of that driver run with it.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { findBrowser } from '../lib/browser.mjs';
import { judged } from '../lib/foreign.mjs';
import { CommandFailed, ROOT } from '../lib/run.mjs';

export const name = 'localforage';
/** Version 1.10.0, and two later changes of its documents and tests. */
export const source = {
  repo: 'https://github.com/localForage/localForage',
  commit: 'fb78c77ee583fb727a558c439b5174aca38c5924',
  with: [
    {
      npm: 'mocha',
      version: '3.5.3',
      integrity:
        'sha512-/6na001MJWEtYxHOV1WLfsmR4YIynkUEhBwzsb+fk2qmQ3iqsi258l/Q2MWHJMImAcNpZ8DEdYAK72NHoIQ9Eg==',
    },
    {
      npm: 'expect.js',
      version: '0.3.1',
      integrity:
        'sha512-okDF/FAPEul1ZFLae4hrgpIqAeapoo5TRdcg/lD0iN9S3GWrBFIJwNezGH1DMtIz+RxU4RrFmMq7WUUvDg3J6A==',
    },
  ],
};

/** Not run: in frames and workers, pages of the suite load localForage by themselves, without this driver. */
const FILES = ['api', 'config', 'datatypes', 'drivers'];
/** Hooks of groups that test the driver for IndexedDB itself. */
const KNOWN = [
  {
    test: 'asyncStorage driver Blob support "before all" hook for "is retrieved by getDriver [promise]"',
    reason:
      'counts the transactions of an IDBDatabase in _dbInfo.db, which this driver has not (3 tests)',
  },
  {
    test: 'asyncStorage driver Blob support "after all" hook',
    reason: 'the end of the same group',
  },
  {
    test: 'asyncStorage driver recover (reconnect) from IDBDatabase InvalidStateError "before each" hook for "retrieves an item from the storage"',
    reason:
      'closes the IDBDatabase in _dbInfo.db, and waits 30 s when there is none (4 tests). The store reconnects by itself',
  },
];

const PAGE = `<!doctype html>
<meta charset="utf-8">
<script src="/mocha.js"></script>
<script src="/expect.js"></script>
<script>mocha.setup({ ui: 'bdd', reporter: function () {} });</script>
<script type="module" src="/own/own.js"></script>`;

/** Makes the page's script. It defines the driver in the same turn as localForage, before localForage looks for one. */
const ownCode = (dist) => `
  import { open } from ${dist('index.js')};
  import { localForageDriver } from ${dist('adapters/localforage.js')};

  window.ownDriver = (driver) => localForageDriver(() => open('localforage'), { driver });
  const load = (part) =>
    new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement('script'), part);
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
      if (part.text) resolve();
    });
  const code = await (await fetch('/localforage.js')).text();
  await load({ text: code + ';localforage.defineDriver(ownDriver(localforage.INDEXEDDB));' });
  for (const file of ${JSON.stringify(FILES)}) await load({ src: '/test/test.' + file + '.js' });
  const tests = [];
  const note = (state) => (test, error) =>
    tests.push({ test: test.fullTitle(), state, message: error && error.message });
  mocha
    .run(() => {
      window.results = tests;
    })
    .on('pass', note('passed'))
    .on('fail', note('failed'))
    .on('pending', note('skipped'));
`;

/** Returns the store, the driver and the page's script, by their addresses. */
async function ownScripts() {
  const code = ownCode((file) => JSON.stringify(join(ROOT, 'js', 'hedgerow', 'dist', file)));
  const build = await rolldown({
    input: { own: 'own' },
    platform: 'browser',
    plugins: [
      {
        name: 'own',
        resolveId: (id) => (id === 'own' ? id : null),
        load: (id) => (id === 'own' ? code : null),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm', entryFileNames: '[name].js' });
  await build.close();
  return Object.fromEntries(output.map((chunk) => [`/own/${chunk.fileName}`, chunk.code]));
}

const TYPES = { '.js': 'text/javascript', '.jpg': 'image/jpeg' };

async function served(files) {
  const server = createServer(async ({ url }, response) => {
    const found = files(url);
    const content = found && (existsSync(found) ? await readFile(found) : found);
    const type = TYPES[extname(url)] ?? 'text/html';
    response.writeHead(content ? 200 : 404, { 'content-type': type }).end(content);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function resultsOf(url) {
  const { chromium } = createRequire(join(ROOT, 'e2e', 'package.json'))('@playwright/test');
  const executablePath = findBrowser();
  if (!executablePath) throw new CommandFailed('there is no Chromium: run npm run setup');
  // Chromium's sandbox refuses to run as root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    const results = await page.waitForFunction(() => window.results, undefined, {
      timeout: 120_000,
    });
    return await results.jsonValue();
  } finally {
    await browser.close();
  }
}

export async function run({ dir, packages }) {
  const files = {
    '/': PAGE,
    '/mocha.js': join(packages('mocha'), 'mocha.js'),
    '/expect.js': join(packages('expect.js'), 'index.js'),
    '/localforage.js': join(ROOT, 'node_modules', 'localforage', 'dist', 'localforage.js'),
    ...(await ownScripts()),
  };
  const server = await served((url) => {
    if (/^\/test\/[\w.]+$/.test(url)) return join(dir, url);
    return files[url];
  });
  try {
    return judged(await resultsOf(`http://127.0.0.1:${server.address().port}/`), KNOWN);
  } finally {
    server.close();
  }
}
