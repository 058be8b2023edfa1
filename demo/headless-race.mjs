// Checks the race for `headless.mjs`, and the search in its rows while all rows are being loaded. No check depends on
// the speed of the machine: the load waits for its first file until the search is answered.

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { racePicture } from './src/race-picture.js';

const SHUFFLED_PATH = fileURLToPath(new URL('public/data/cities.shuffled.ndjson', import.meta.url));
const RACE_ROWS = 20_000;
const WAIT_MS = 120_000;
const PICTURE_WIDTH = 620;
const PICTURE_RUNS = 3;
const LANES = ['one put per row', 'Dexie', 'Hedgerow'];
const TYPED = 'San';
const FIRST_FILE = '**/data/cities.meta.json';

/** Checks that all lanes stored the requested rows and that their figures fit together. */
export function checkRace(race, rows, { say, check, ms, count }) {
  check(race?.rows === rows, `the race is one of ${race?.rows} rows, not ${rows}`);
  const names = race.lanes.map(({ name }) => name).join(', ');
  check(names === LANES.join(', '), `the lanes are ${names}`);
  for (const { name, requested, rows: stored, ms: time, worstGapMs, gaps } of race.lanes) {
    const figures = `${count(stored)} rows in ${ms(time)}, longest gap ${ms(worstGapMs)}`;
    say(`race: ${name}`, figures);
    check(stored > 0, `${name} stored ${stored} rows`);
    check(stored === requested, `${name} stored ${stored} of ${requested} rows`);
    const longest = Math.max(...gaps.map((gap) => gap.ms));
    check(longest === worstGapMs, `${name}: the longest of its gaps is ${longest} ms`);
    const sum = gaps.reduce((total, gap) => total + gap.ms, 0);
    // The clock has steps of 5 µs.
    check(sum >= time - 1, `${name}: its gaps are ${sum} ms of ${time}`);
  }
  const [puts, ...others] = race.lanes;
  check(puts.requested <= rows, `${puts.requested} puts were requested`);
  for (const { name, requested } of others) {
    check(requested === rows, `${name} was given ${requested} rows`);
  }
  say('  longest slice', ms(race.lanes.at(-1).longestSliceMs));
}

/** Checks the race that a visitor sees. */
export function checkShortRace({ race }, tools) {
  checkRace(race, RACE_ROWS, tools);
}

/** Checks that the page shows the picture of the race and its verdict, and no lane any more. */
export async function checkPicture(page, { check }) {
  const words = await page.locator('#race-picture svg title').textContent();
  const titles = /^20,000 rows\. One put per row: .* Dexie: bulkPut: .* Hedgerow: putMany: /;
  check(titles.test(words), `the picture says: ${words}`);
  const verdict = await page.locator('#race-verdict').textContent();
  const inVerdict = LANES.every((name) => new RegExp(`${name} [\\d.,]+\\sm?s`).test(verdict));
  check(inVerdict, `the verdict says: ${verdict}`);
  check(!(await page.locator('#race-lanes').isVisible()), 'the lanes are still there');
}

/** Runs the race again by its button: all databases start empty again. */
export async function checkAgain(page, tools) {
  await page.evaluate(() => {
    delete globalThis.demo.race;
  });
  await page.getByRole('button', { name: 'Run the race' }).click();
  const again = await page.waitForFunction(() => globalThis.demo.race, undefined, {
    timeout: WAIT_MS,
  });
  checkRace(await again.jsonValue(), RACE_ROWS, tools);
  await page.locator('#race-again:not(:disabled)').waitFor();
}

/** Finds the rows of the race whose keys begin with the typed text. */
async function matchesInRace() {
  const lines = (await readFile(SHUFFLED_PATH, 'utf8')).split('\n').slice(0, RACE_ROWS);
  const prefix = TYPED.toLowerCase();
  return lines.filter((line) => JSON.parse(line).id.startsWith(prefix)).length;
}

/** Begins a load, and searches before the load has ended. `settled` waits for its end. */
export async function checkSearchWhileLoading(page, settled, { say, check, ms, count }) {
  let goOn;
  const isAnswered = new Promise((resolve) => {
    goOn = resolve;
  });
  await page.route(FIRST_FILE, async (route) => {
    await isAnswered;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.waitForFunction(() => globalThis.demo.state === 'loading');
  await page.locator('#query').fill(TYPED);
  const found = await page.waitForFunction(
    (typed) => globalThis.demo.search?.typed === typed && globalThis.demo.search,
    TYPED,
    { timeout: WAIT_MS },
  );
  const { matches, scanMs, countMs, state } = await found.jsonValue();
  const note = await page.locator('#search-note').textContent();
  goOn();
  await settled(page);
  await page.unroute(FIRST_FILE);
  const right = await matchesInRace();
  say('search during a load', `${ms(scanMs)}, ${count(matches)} counted in ${ms(countMs)}`);
  check(state === 'loading', `the search was answered when the page was ${state}`);
  check(right > 0 && matches === right, `"${TYPED}" has ${matches} matches, not ${right}`);
  check(note.includes('those of the race'), `during a load the search says: ${note}`);
  const after = await page.locator('#search-note').textContent();
  check(after === '', `after the load the search says: ${after}`);
}

/** Returns the run of a lane whose longest gap is the median. */
function medianOf(runs) {
  return runs.toSorted((a, b) => a.worstGapMs - b.worstGapMs)[runs.length >> 1];
}

/** Runs the race with all rows three times, and draws the median run of each lane to a file. */
export async function drawRace(page, url, path, rows, tools) {
  const races = [];
  for (let nth = 0; nth < PICTURE_RUNS; nth++) {
    await page.goto(new URL('?race=all', url).href);
    const result = await page.waitForFunction(() => globalThis.demo?.race, undefined, {
      timeout: WAIT_MS,
    });
    const race = await result.jsonValue();
    checkRace(race, rows, tools);
    races.push(race);
  }
  const lanes = races[0].lanes.map((_, at) => medianOf(races.map((race) => race.lanes[at])));
  await writeFile(path, racePicture({ ...races[0], lanes }, PICTURE_WIDTH, { isAlone: true }));
  tools.say('picture', path);
}
