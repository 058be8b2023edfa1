// The benchmark in the browser of a visitor, with few rows: the page shows its measurements, the link has them, and no
// data stays.

import { expect, test } from '@playwright/test';
import { faultsEverywhere, go, shots } from './reading.mjs';

/** More than one batch, and few enough for a transaction each. */
const ROWS = 1200;
const NAMES = ['hedgerow', 'dexie', 'dexie-batches', 'indexeddb', 'indexeddb-each'];

/** Presses the button, which waits for the script of the page. */
async function start(page) {
  await page.getByRole('button', { name: 'Run it here' }).click();
  await expect(page.getByText('Longest gap of this load')).toBeVisible();
}

async function finished(page) {
  await expect(page.getByRole('heading', { name: 'Result', exact: true })).toBeVisible({
    timeout: 90_000,
  });
}

const reportOf = (link) =>
  JSON.parse(Buffer.from(new URL(link).hash.slice('#result='.length), 'base64url').toString());
const linkOf = (report) =>
  `benchmark.html#result=${Buffer.from(JSON.stringify(report)).toString('base64url')}`;

/** Returns all figures of the page. */
const shown = (page) => page.locator('.bench-result .bench-group li').allInnerTexts();
const databases = (page) =>
  page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));

/** A result as a link may hold it. */
const REPORT = {
  rows: 100_000,
  date: '2026-01-02',
  versions: { hedgerow: '0.1.0', dexie: '4.4.7' },
  device: { browser: 'Chromium 141, Linux', cores: 2 },
  figures: [
    { id: 'hedgerow', rows: 100_000, loadMs: 300, gapMs: 20, gets: 200_000, scanMs: 44 },
    { id: 'indexeddb-each', rows: 10_000, loadMs: 5000, gapMs: 18 },
    { id: 'dexie', rows: 0, failed: 'Error: <b>no</b>' },
  ],
};

test('few rows: every figure is there, a link shows the same, and no data stays', async ({
  page,
}) => {
  const foreign = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(process.env.SITE_URL)) foreign.push(request.url());
  });
  await go(page, `benchmark.html?rows=${ROWS}`);
  await start(page);
  await finished(page);

  const report = reportOf(page.url());
  expect(report.rows).toBe(ROWS);
  expect(report.figures.map(({ id }) => id)).toEqual(NAMES);
  for (const { id, rows, failed, loadMs, gapMs, gets, scanMs } of report.figures) {
    expect(failed, id).toBeUndefined();
    // On a slow machine a transaction for each row comes to its limit of time.
    const isCut = id === 'indexeddb-each' && rows > 0 && rows < ROWS;
    expect(isCut ? ROWS : rows, `${id}: rows that are there`).toBe(ROWS);
    for (const figure of [loadMs, gapMs, gets, scanMs]) expect(figure, id).toBeGreaterThan(0);
  }
  // The plot has drawn the same frames.
  const gap = /([\d.]+) ms/.exec(await page.locator('.bench-gap').innerText())[1];
  const figure = report.figures.at(-1).gapMs;
  expect(Math.abs(Number(gap) - figure), `${gap} drawn, ${figure} told`).toBeLessThan(20);
  // Four figures of each.
  const here = await shown(page);
  expect(here).toHaveLength(4 * NAMES.length);
  expect(here.filter((text) => text.includes('–'))).toEqual([]);
  const gets = new Intl.NumberFormat('en').format(Math.round(report.figures[0].gets));
  expect(here.filter((text) => text.includes('Hedgerow'))[2]).toContain(gets);

  await expect(page.locator('.bench-text')).toHaveValue(/\| Hedgerow, putMany +\| [\d.]+ m?s/);
  await expect(page.locator('.bench-text')).toHaveValue(/1,200 rows/);
  expect(await databases(page)).toEqual([]);
  expect(foreign).toEqual([]);
  expect(await faultsEverywhere(page, shots(page, 'benchmark-result'))).toEqual([]);

  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(other.getByRole('heading', { name: 'A result from a link' })).toBeVisible();
  expect(await shown(other)).toEqual(here);
});

test('a contestant that fails is reported, and the others go on', async ({ page }) => {
  await page.addInitScript(() => {
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (name, ...rest) {
      if (name === 'bench-dexie') throw new DOMException('no room', 'QuotaExceededError');
      return open.call(this, name, ...rest);
    };
  });
  await go(page, `benchmark.html?rows=${ROWS}`);
  await start(page);
  await finished(page);
  const failed = reportOf(page.url()).figures.filter(({ failed }) => failed !== undefined);
  expect(failed.map(({ id }) => id)).toEqual(['dexie', 'dexie-batches']);
  expect(failed[0].failed).toContain('no room');
  await expect(page.locator('.bench-result')).toContainText('no room');
});

test('a run that is stopped deletes what it has loaded', async ({ page }) => {
  await go(page, 'benchmark.html?rows=20000');
  await start(page);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByText('Stopped, and all that was loaded is deleted.')).toBeVisible({
    timeout: 60_000,
  });
  expect(await databases(page)).toEqual([]);
  await expect(page.getByRole('button', { name: 'Run it here' })).toBeEnabled();
  await expect(page.locator('.bench-result')).toHaveCount(0);
});

test('fewer rows than requested: the rest is extrapolated, and the page says so', async ({
  page,
}) => {
  await go(page, linkOf(REPORT));
  await expect(page.getByRole('heading', { name: 'A result from a link' })).toBeVisible();
  const texts = await shown(page);
  const each = texts.filter((text) => text.includes('put by put'));
  expect(each[1]).toContain('50.0 s');
  expect(each[1]).toContain('it was stopped after 5.00 s, with 10,000 rows');
  expect(each[2]).toContain('not all rows were loaded');
  expect(texts.filter((text) => text.includes('Error: <b>no</b>'))).toHaveLength(4);
});

test('a link without a result says so', async ({ page }) => {
  const wrong = [
    { ...REPORT, rows: -1 },
    { ...REPORT, figures: [{ id: 'toString', rows: 1, loadMs: 1 }] },
    { ...REPORT, figures: [{ id: 'hedgerow', rows: 1, loadMs: '1' }] },
    { ...REPORT, figures: [...REPORT.figures, REPORT.figures[0]] },
    { ...REPORT, date: 'today' },
  ];
  for (const link of [...wrong.map(linkOf), 'benchmark.html#result=!!!']) {
    await go(page, 'index.html');
    await go(page, link);
    await expect(page.getByText('This link holds no result that can be shown.')).toBeVisible();
    await expect(page.locator('.bench-result')).toHaveCount(0);
  }
});
