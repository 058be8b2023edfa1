// Checks the demo: `node demo/headless.mjs <url> [--screenshot <dir>] [--picture <file>]` opens it in a headless
// browser, on a profile on disk, and prints what it measures. Ends with 0 only if the stored rows are right, also after
// a reload, each printed figure is a number, and the page logged no error. With `--picture` it runs the race again,
// with all rows and in a separate browser, and draws it.
//
// Node computes the expected results, from the same rows in a store in memory.

import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { memory, open } from 'hedgerow';
import { chromium } from 'playwright-core';
import { checkDevices } from './headless-devices.mjs';
import { checkList } from './headless-list.mjs';
import { checkLiveParts, indexesOf } from './headless-live.mjs';
import {
  checkAgain,
  checkPicture,
  checkSearchWhileLoading,
  checkShortRace,
  drawRace,
} from './headless-race.mjs';
import { checkShown, checkSizes } from './headless-sizes.mjs';
import { checkSums } from './headless-sums.mjs';
import { indexedCities, plainCities } from './src/city-table.js';

const DEMO_DIR = fileURLToPath(new URL('.', import.meta.url));
const ROWS_PATH = join(DEMO_DIR, 'public', 'data', 'cities.ndjson');
// In the repository, since a system's temporary folder may be in memory.
const PROFILES_DIR = join(DEMO_DIR, '..', '.cache', 'profiles');
const TYPED = 'San Franc';
const LOAD_MS = 120_000;
const REST_MS = 1_500;
const DESKTOP = { width: 1280, height: 900 };
const MOBILE = { width: 390, height: 844 };

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { screenshot: { type: 'string' }, picture: { type: 'string' } },
});
const [url] = positionals;
if (url === undefined) {
  console.error('usage: node demo/headless.mjs <url> [--screenshot <dir>] [--picture <file>]');
  process.exit(2);
}

const problems = [];
const say = (name, value) => console.log(`${name.padEnd(22)} ${value}`);
const count = (value) => value.toLocaleString('en');

function check(condition, problem) {
  if (condition) return;
  problems.push(problem);
  console.error(`WRONG: ${problem}`);
}

/** Formats milliseconds, which are above zero; a wait may be zero. */
function ms(value, { mayBeNone = false } = {}) {
  const isOne = Number.isFinite(value) && (mayBeNone ? value >= 0 : value > 0);
  check(isOne, `a time is printed that is ${value}`);
  return `${Number(value).toFixed(value < 10 ? 2 : 0)} ms`;
}

/** Formats bytes, which are above zero. */
function bytes(value) {
  check(Number.isInteger(value) && value > 0, `a size is printed that is ${value}`);
  return `${count(value)} bytes`;
}

const tools = { say, check, ms, bytes, count, watchPage };

/** Returns the root of rows in their own store, in a table with indexes or without. */
async function rootOf(rows, cities) {
  const store = await open('expected', { storage: memory(), tables: { cities } });
  const result = await store.cities.putMany(rows);
  const { root } = store;
  await store.close();
  return { root, rows: result.rows };
}

/** Computes the rows and the roots that the page must reach. */
async function expected() {
  const text = await readFile(ROWS_PATH, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const grown = lines.map((row) =>
    row.country === 'FR' && row.population !== undefined
      ? { ...row, population: Math.round(row.population * 1.1) }
      : row,
  );
  return {
    ...(await rootOf(lines, plainCities)),
    indexedRoot: (await rootOf(lines, indexedCities)).root,
    grownRoot: (await rootOf(grown, indexedCities)).root,
    lines,
    bytes: (await stat(ROWS_PATH)).size,
  };
}

/** Returns the options that start Chromium. */
function launchOptions() {
  const executablePath = process.env.CHROMIUM_PATH;
  return {
    ...(executablePath ? { executablePath } : {}),
    args: [
      // Chromium's sandbox refuses to run as root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  };
}

async function launch(profileDir) {
  const context = await chromium.launchPersistentContext(profileDir, {
    ...launchOptions(),
    viewport: DESKTOP,
    colorScheme: 'light',
  });
  const page = context.pages()[0] ?? (await context.newPage());
  watchPage(page);
  return { context, page };
}

/** Records each error of a page as a problem. */
function watchPage(page) {
  page.on('pageerror', (error) => check(false, `the page threw: ${error.stack ?? error}`));
  page.on('console', (message) => {
    // The server's answer to a device that was not the first to write. Chromium logs it, but it is no error.
    const isLost = /\b412\b/.test(message.text()) && message.location().url.includes('/remote/h/');
    if (message.type() === 'error' && !isLost) {
      check(false, `the page logged: ${message.text()}`);
    }
  });
}

const figuresOf = (page) => page.evaluate(() => globalThis.demo);

/** Waits until the page has done its own work. */
async function settled(page) {
  await page.waitForFunction(() => /ready|failed/.test(globalThis.demo?.state), undefined, {
    timeout: LOAD_MS,
  });
  const figures = await figuresOf(page);
  if (figures.state === 'failed') throw new Error(`the page says: ${figures.failure}`);
  return figures;
}

/** Takes pictures in both widths and both colour schemes. */
async function pictures(page, name) {
  for (const [device, viewport] of Object.entries({ desktop: DESKTOP, mobile: MOBILE })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 150)));
      const path = join(flags.screenshot, `${name}-${device}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Loads from an empty store again for each picture of a load under way. */
async function picturesOfLoad(page) {
  for (const [device, viewport] of Object.entries({ desktop: DESKTOP, mobile: MOBILE })) {
    for (const colorScheme of ['light', 'dark']) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.locator('input[name=order][value=sorted]').check({ force: true });
      await page.getByRole('button', { name: 'Load again' }).click();
      await page.waitForFunction(
        () =>
          globalThis.demo.state === 'loading' &&
          Number(document.querySelector('#hedge')?.getAttribute('aria-valuenow')) > 35,
      );
      await page.evaluate(() => scrollTo(0, 0));
      await page.screenshot({ path: join(flags.screenshot, `load-${device}-${colorScheme}.png`) });
      await settled(page);
    }
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
}

function printLoad(name, { rows, root, load }, right) {
  const { bytes: taken, slices, longestSliceMs, storageMs, worstGapMs, dots } = load;
  const rate = `${count(Math.round((rows / load.ms) * 1000))} rows/s`;
  say(name, `${ms(load.ms)}, ${bytes(taken)}, ${rate}`);
  check(slices > 0, `the load took ${slices} slices`);
  say('  slices', `${count(slices)}, the longest ${ms(longestSliceMs)}`);
  say('  longest frame gap', ms(worstGapMs));
  say('  waited for storage', ms(storageMs, { mayBeNone: true }));
  check(rows === right.rows, `${rows} rows are stored, not ${right.rows}`);
  check(taken === right.bytes, `${taken} bytes were taken, not ${right.bytes}`);
  check(dots === right.rows, `the map shows ${dots} rows`);
  check(root === right.root, `root ${root}, but Node makes ${right.root}`);
}

function printStored(stored) {
  say('rows', count(stored.rows));
  checkSizes(stored, tools);
  say('root', stored.root);
}

/**
 * Measures the share of the machine and the browser: the longest gap between frames while the page is idle, and while
 * it reads the same response to its end and neither stores nor draws.
 */
function controls(page) {
  return page.evaluate(async (restMs) => {
    async function longestGap(work) {
      let [lastMs, worstMs, isOver] = [performance.now(), 0, false];
      const frame = () => {
        const now = performance.now();
        worstMs = Math.max(worstMs, now - lastMs);
        lastMs = now;
        if (!isOver) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      await work();
      isOver = true;
      await new Promise((resolve) => requestAnimationFrame(() => resolve()));
      return worstMs;
    }
    return {
      restMs: await longestGap(() => new Promise((resolve) => setTimeout(resolve, restMs))),
      readMs: await longestGap(async () => {
        const { body } = await fetch('data/cities.ndjson', { cache: 'no-store' });
        const reader = body.getReader();
        while (!(await reader.read()).done);
      }),
    };
  }, REST_MS);
}

/** Loads from an empty store again. */
async function loadAgain(page, order) {
  await page.locator(`input[name=order][value=${order}]`).check({ force: true });
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.waitForFunction(() => globalThis.demo.state === 'loading');
  return settled(page);
}

async function search(page, rows) {
  await page.locator('#query').fill(TYPED);
  await page.waitForFunction((typed) => globalThis.demo.search?.typed === typed, TYPED);
  const { search: found } = await figuresOf(page);
  say(`search "${TYPED}"`, `${ms(found.scanMs)}, ${count(found.matches)} matches`);
  say('count of matches', ms(found.countMs));
  check(found.matches > 0 && found.matches < rows, `"${TYPED}" has ${found.matches} matches`);
  const first = await page.locator('#results').getByRole('option').first().textContent();
  check(/^San Franc/.test(first), `"${TYPED}" finds first "${first}"`);
}

function printReload({ rows, root, opened, scan }, right) {
  check(opened !== undefined, 'the page loaded again what was stored');
  say('reload: open', ms(opened.openMs));
  say('reload: first get', ms(opened.getMs));
  say('reload: scan of all', `${ms(scan.ms)}, longest frame gap ${ms(scan.worstGapMs)}`);
  say('reload: root', root);
  check(scan.dots === right.rows, `the map shows ${scan.dots} rows after the reload`);
  check(opened.found, 'the first key is not found');
  check(rows === right.rows, `${rows} rows after the reload, not ${right.rows}`);
  const { indexedRoot } = right;
  check(root === indexedRoot, `root ${root} after the reload, not ${indexedRoot}`);
}

async function visit(page, right) {
  // A browser that has just started is busy with itself.
  await page.waitForTimeout(REST_MS);
  await page.goto(url);
  const loaded = await settled(page);
  // The page itself makes the first search; its results must not push the load out of sight.
  await page.waitForFunction(() => document.querySelector('#results')?.children.length > 0);
  const scrolled = await page.evaluate(() => scrollY);
  check(scrolled === 0, `the page has scrolled by ${scrolled} px on its own`);
  checkShortRace(loaded, tools);
  await checkPicture(page, tools);
  printStored(loaded);
  printLoad('load', loaded, right);
  printLoad('load again', await loadAgain(page, 'sorted'), right);
  printLoad('load shuffled', await loadAgain(page, 'shuffled'), right);
  await checkSearchWhileLoading(page, settled, tools);
  await indexesOf(page);
  await page.waitForFunction(() => globalThis.demo.query?.scan);
  const { restMs, readMs } = await controls(page);
  say('longest frame gap of', `the page at rest ${ms(restMs)}, only reading ${ms(readMs)}`);
  await search(page, loaded.rows);
  if (flags.screenshot) await mkdir(flags.screenshot, { recursive: true });
  await checkList(page, right, tools, flags.screenshot);
  await checkLiveParts(page, right, tools);
  if (flags.screenshot) {
    await pictures(page, 'loaded');
    await picturesOfLoad(page);
    await indexesOf(page);
  }
  await checkAgain(page, tools);
  await checkShown(page, tools);
  await page.reload();
  printReload(await settled(page), right);
  const { ms: readyMs, root } = await indexesOf(page);
  say('reload: indexes', `found after ${ms(readyMs)}`);
  check(root === right.indexedRoot, `root ${root} with the indexes after the reload`);
  await page.waitForFunction(() => globalThis.demo.query?.scan);
  if (flags.screenshot) await pictures(page, 'reloaded');
  await checkShown(page, tools);
  const seen = flags.screenshot ? pictures : async () => {};
  await checkSums(page, url, tools, seen);
  const launchOther = () => chromium.launch(launchOptions());
  await checkDevices(page, url, { ...tools, launchOther }, seen);
}

/** Runs `work` with the page of its own browser, whose profile is on disk. */
async function inBrowser(work) {
  const profileDir = await mkdtemp(join(PROFILES_DIR, 'demo-'));
  let context;
  try {
    const launched = await launch(profileDir);
    context = launched.context;
    await work(launched.page);
  } catch (error) {
    check(false, error.message);
  } finally {
    await context?.close();
    await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const right = await expected();
await mkdir(PROFILES_DIR, { recursive: true });
await inBrowser((page) => visit(page, right));
const { picture } = flags;
if (picture) await inBrowser((page) => drawRace(page, url, picture, right.rows, tools));
console.log(problems.length === 0 ? '\nall is right' : `\n${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
