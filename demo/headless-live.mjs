// Checks the parts of the demo that need indexes for `headless.mjs`: against the same rows, filtered and sorted in
// Node, and against roots that Node has made.

import { checkIndexSizes } from './headless-sizes.mjs';

const WAIT_MS = 30_000;

/** People click more slowly than a program: the work after a step has ended by then. */
const PAUSE_MS = 200;

const RAW_WRITES = 11;

/** Iceland has few rows, India many without a population, the United States the most. */
const QUERIES = [
  ['IS', 'population'],
  ['US', 'population'],
  ['IN', 'name'],
  ['FR', 'population'],
];

/** Finds the keys that a query must find: with a filter and a sort, without a store. */
function firstKeys(rows, country, by, limit) {
  const bytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const order = {
    name: (a, b) => bytes(a.name, b.name) || bytes(a.id, b.id),
    population: (a, b) => (b.population ?? -1) - (a.population ?? -1) || bytes(b.id, a.id),
  };
  return rows
    .filter((row) => row.country === country)
    .sort(order[by])
    .slice(0, limit)
    .map(({ id }) => id);
}

const figuresOf = (page) => page.evaluate(() => globalThis.demo);

/** Waits until a figure passes `test`, and returns it. */
async function figure(page, name, test, given) {
  const found = await page.waitForFunction(
    ([key, source, value]) => {
      const found = globalThis.demo[key];
      // biome-ignore lint/security/noGlobalEval: a test of this file's own
      return found && globalThis.eval(source)(found, value) && found;
    },
    [name, `(${test})`, given],
    { timeout: WAIT_MS },
  );
  return found.jsonValue();
}

/** Waits for the indexes. Returns the figures of making them. */
export function indexesOf(page) {
  return figure(page, 'indexes', () => true);
}

/** Reads the names of the live list, which has its own query: once they are as `wanted`, or at the end of the wait. */
async function listed(page, wanted) {
  const begin = Date.now();
  for (;;) {
    const names = await page.locator('#live-rows .name').allTextContents();
    if (String(names) === String(wanted) || Date.now() - begin > WAIT_MS) return names;
    await page.waitForTimeout(20);
  }
}

async function checkQueries(page, right, { say, check, ms, count }) {
  for (const [country, by] of QUERIES) {
    await page.locator('#country').selectOption(country);
    await page.locator(`input[name=by][value=${by}]`).check({ force: true });
    const asked = [country, by];
    const found = await figure(
      page,
      'query',
      (query, [of, order]) => query.country === of && query.by === order && query.scan,
      asked,
    );
    const { scan } = found;
    const [mine, all] = [`${ms(found.ms)}, ${found.rows} rows read`, count(scan.rows)];
    say(`${country} by ${by}`, `${mine}; without the index ${ms(scan.ms)}, ${all}`);
    const keys = firstKeys(right.lines, country, by, found.rows);
    check(found.rows === 10, `${asked} finds ${found.rows} rows`);
    check(String(found.keys) === String(keys), `${asked} finds ${found.keys}, not ${keys}`);
    check(scan.isSame, `${asked} finds other rows without the index`);
    check(scan.rows === right.rows, `${scan.rows} rows were read without the index`);
    const byKey = new Map(right.lines.map((row) => [row.id, row.name]));
    const wanted = keys.map((key) => byKey.get(key));
    const names = await listed(page, wanted);
    check(String(names) === String(wanted), `${asked} shows ${names}, not ${wanted}`);
  }
}

/** Checks that each of two pages of a browser sees the other's edits. */
async function checkLive(page, right, { say, check, ms, watchPage }) {
  const opening = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Open a second tab' }).click();
  const second = await opening;
  watchPage(second);
  await second.waitForFunction(() => globalThis.demo?.query?.scan, undefined, { timeout: WAIT_MS });
  const { root: opened } = await indexesOf(second);
  check(opened === right.indexedRoot, `the second tab opens root ${opened}`);
  for (const [from, to, name, population] of [
    [page, second, 'the second tab', 1_234_567],
    [second, page, 'the first tab', 2_345_678],
  ]) {
    await page.waitForTimeout(PAUSE_MS);
    const row = from.locator('#live-rows li').nth(3);
    const city = await row.locator('.name').textContent();
    const input = row.locator('input');
    await input.fill(String(population));
    await input.press('Enter');
    const test = (live, wanted) => live.population === wanted;
    const there = await figure(to, 'live', test, population);
    const here = await figure(from, 'live', test, population);
    // The clocks of two tabs may differ by more than the edit took.
    const took = ({ ms: time }) => ms(time, { mayBeNone: true });
    say(`${name} sees an edit`, `after ${took(there)}; the tab itself ${took(here)}`);
    check(there.fromOther && !here.fromOther, `${name} does not know whose edit it sees`);
    check(there.root === here.root, `${name} is at root ${there.root}, not ${here.root}`);
    const shown = to.locator('#live-rows li.flash').filter({ hasText: city });
    await shown.waitFor({ timeout: WAIT_MS });
    const value = await shown.locator('input').inputValue();
    check(value === population.toLocaleString('en'), `${name} shows ${city} with ${value}`);
  }
  await page.getByRole('button', { name: 'Shuffle one' }).click();
  await figure(second, 'live', (live) => live.population !== 2_345_678 && live.fromOther);
  await second.getByRole('button', { name: 'Put all rows back' }).click();
  const back = `#main-root:text("${right.indexedRoot.slice(0, 8)}")`;
  await page.locator(back).waitFor({ timeout: WAIT_MS });
  const names = new Map(right.lines.map((row) => [row.id, row.name]));
  const wanted = firstKeys(right.lines, 'FR', 'population', 10).map((key) => names.get(key));
  const top = await listed(page, wanted);
  check(String(top) === String(wanted), `put back, the list shows ${top}, not ${wanted}`);
  await second.close();
}

/** Checks that a draft changes no other branch, and that undo and merge lead to the right roots. */
async function checkDraft(page, right, { say, check, ms, count }) {
  let last = '';
  async function step(button, name) {
    await page.waitForTimeout(PAUSE_MS);
    await page.evaluate(() => {
      delete globalThis.demo.draft;
    });
    await page.locator(`#draft-controls [data-step=${button}]`).click();
    const done = await figure(page, 'draft', (draft, wanted) => draft.step === wanted, name);
    await page.locator('#draft-controls:not([aria-busy])').waitFor();
    last = name;
    say(`draft: ${name.toLowerCase()}`, ms(done.ms));
    check(done.rows === right.rows || name === 'Merged', `${name}: main has ${done.rows} rows`);
    return done;
  }
  const main = right.indexedRoot;
  const stays = ({ root }) => check(root === main, `${last}: main is at root ${root}`);

  /** Waits until the card shows as many changes. */
  const differ = (rows) =>
    page
      .locator(`#draft-differs:text-is("${count(rows)} rows differ")`)
      .waitFor({ timeout: WAIT_MS });
  const french = right.lines.filter(({ country }) => country === 'FR');
  const grow = french.filter(({ population: was }) => was && Math.round(was * 1.1) !== was);

  const forked = await step('fork', 'Forked');
  stays(forked);
  await differ(0);
  check(forked.draftRoot === main, `the draft begins at root ${forked.draftRoot}`);
  const grown = await step('grow', 'Grown by 10 %');
  stays(grown);
  check(grown.draftRoot === right.grownRoot, `grown, the draft has root ${grown.draftRoot}`);
  await differ(grow.length);
  const renamed = await step('rename', 'Renamed');
  stays(renamed);
  check(renamed.draftRoot !== grown.draftRoot, 'a city was renamed, and the root is the same');
  const deleted = await step('delete', 'Deleted');
  stays(deleted);
  await differ(french.length);
  const left = right.rows - french.length;
  check(deleted.draftRows === left, `${count(deleted.draftRows)} rows are left, not ${left}`);
  for (const root of [renamed.draftRoot, grown.draftRoot, main]) {
    const undone = await step('undo', 'Undone');
    stays(undone);
    check(undone.draftRoot === root, `undone, the draft has root ${undone.draftRoot}, not ${root}`);
  }
  await differ(0);
  await step('grow', 'Grown by 10 %');
  const merged = await step('merge', 'Merged');
  check(merged.root === right.grownRoot, `merged, main has root ${merged.root}`);
  check(merged.draftRoot === undefined, 'the draft is still there after its merge');
  stays(await step('undo-merge', 'Merge undone'));
  await step('fork', 'Forked');
  await step('rename', 'Renamed');
  stays(await step('throw-away', 'Thrown away'));
}

/** Measures the least time of a step on this machine, in milliseconds: one small write of its own. */
function rawWrites(page) {
  return page.evaluate(async (times) => {
    const settled = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
        request.onupgradeneeded = () => request.result.createObjectStore('rows');
      });
    const database = await settled(indexedDB.open('headless-raw-writes', 1));
    const all = [];
    for (let time = 0; time < times; time++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const startMs = performance.now();
      const transaction = database.transaction('rows', 'readwrite', { durability: 'relaxed' });
      transaction.objectStore('rows').put(time, 'key');
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
      all.push(performance.now() - startMs);
    }
    database.close();
    await settled(indexedDB.deleteDatabase('headless-raw-writes'));
    return all.sort((a, b) => a - b);
  }, RAW_WRITES);
}

/** Runs all checks. Leaves the rows as they were loaded. */
export async function checkLiveParts(page, right, tools) {
  const { say, check, ms, bytes } = tools;
  const made = await indexesOf(page);
  const gap = `longest frame gap ${ms(made.worstGapMs)}`;
  say('two indexes', `${ms(made.ms)} in the background, ${bytes(made.bytes)} packed, ${gap}`);
  checkIndexSizes(made, (await figuresOf(page)).levels, tools);
  check(made.root === right.indexedRoot, `root ${made.root} with indexes`);
  await checkQueries(page, right, tools);
  await checkLive(page, right, tools);
  await checkDraft(page, right, tools);
  const raw = await rawWrites(page);
  say('one raw transaction', `${ms(raw[RAW_WRITES >> 1])}, at most ${ms(raw.at(-1))}`);
  const { failure } = await figuresOf(page);
  check(failure === undefined, `the page says: ${failure}`);
}
