/** The list of all cities: every place of it can be reached, and shows the rows of its number. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { test } from './profile.js';

interface City {
  readonly id: string;
  readonly name: string;
}

const FILE = new URL('../../../demo/public/data/cities.ndjson', import.meta.url);
const NEW = 'A new place';
let cities: readonly City[];

test.beforeAll(() => {
  // In the order of their keys, as `prepare.mjs` writes them.
  cities = readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
});

const scroller = (page: Page) => page.getByRole('region', { name: 'Cities' });
const count = (page: Page, number: string) =>
  expect(page.locator('.count')).toHaveText(`${number} cities`);
const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

/** Returns the rows that a person sees, by their place on the screen: the number, and the texts of the row there. */
const seen = (page: Page) =>
  scroller(page).evaluate((box) => {
    const inner = box.getBoundingClientRect().top + box.clientTop;
    const rowHeight = 44;
    const [first, places] = [
      Math.floor((box.scrollTop + 1) / rowHeight),
      Math.ceil((box.scrollTop + box.clientHeight - 1) / rowHeight),
    ];
    const rows = [...box.querySelectorAll('li')].map((row) => ({
      number: (row.getBoundingClientRect().top - inner + box.scrollTop) / rowHeight,
      texts: ['number', 'name'].map((name) => row.querySelector(`.${name}`)!.textContent),
      id: row.dataset.id!,
    }));
    // A row stands in its place, to a fraction of a pixel.
    for (const row of rows) {
      const place = Math.round(row.number);
      if (Math.abs(place - row.number) * rowHeight < 1) row.number = place;
    }
    const shown = rows.filter(({ number }) => number >= first && number < places);
    shown.sort((a, b) => a.number - b.number);
    return { first, places, shown };
  });

/** Checks that every place on the screen has the row of its number. `all` are the expected rows of the store. */
async function isRight(page: Page, all: readonly City[]): Promise<number> {
  await expect(async () => {
    const { first, places, shown } = await seen(page);
    const wanted = all.slice(first, places).map(({ id, name }, nth) => ({
      number: first + nth,
      texts: [(first + nth + 1).toLocaleString('en'), name],
      id: `${id}`,
    }));
    expect(wanted.length).toBeGreaterThan(5);
    expect(shown).toEqual(wanted);
  }).toPass({ timeout: 20_000 });
  return (await seen(page)).first;
}

/** Records the list from now on: the ids of rows by each number at which they ever stood. */
const states = (page: Page) =>
  scroller(page).evaluateHandle((box) => {
    const told = { wasStale: false, rows: {} as Record<number, string> };
    new MutationObserver(() => {
      if (box.ariaBusy === 'true') told.wasStale = true;
      for (const row of box.querySelectorAll('li')) {
        const number = Number(row.ariaPosInSet) - 1;
        const id = told.rows[number] ?? row.dataset.id!;
        told.rows[number] = id === row.dataset.id ? id : 'two rows in one place';
      }
    }).observe(box, { subtree: true, childList: true, attributes: true });
    return told;
  });

async function goTo(page: Page, where: string): Promise<void> {
  await page.getByLabel('Number or name').fill(where);
  await page.keyboard.press('Enter');
}

async function load(page: Page): Promise<void> {
  const told = page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const values = new Set<number>();
        new MutationObserver(() => {
          const bar = document.querySelector('progress');
          if (bar) values.add(bar.value);
          else if (values.size > 0) resolve([...values]);
        }).observe(document.querySelector('#app')!, {
          childList: true,
          subtree: true,
          attributes: true,
        });
      }),
  );
  await press(page, 'Load all cities');
  await count(page, '171,075');
  const values = await told;
  expect(values.filter((value) => value > 0 && value < cities.length).length).toBeGreaterThan(2);
  expect(values).toEqual([...values].sort((a, b) => a - b));
}

test('loads once; the scroll bar reaches every row', async ({ profile }) => {
  expect(cities).toHaveLength(171_075);
  let page = await profile.open('cities');
  await load(page);
  expect(await isRight(page, cities)).toBe(0);

  const last = cities.length - 1;
  const move = (top: number) => scroller(page).evaluate((box, top) => box.scrollTo({ top }), top);
  const whole = await scroller(page).evaluate((box) => box.scrollHeight);
  for (const part of [1, 0.5, 0.25, 0.75, 0.123_456, 0.999_9]) {
    await move(whole * part);
    const first = await isRight(page, cities);
    expect(first).toBeGreaterThan(cities.length * part - 50);
  }
  // By the keyboard, to both ends.
  await scroller(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(async () => (await seen(page)).first).toBe(0);
  await isRight(page, cities);
  await page.keyboard.press('End');
  await expect(page.locator('.scroller li .number').last()).toHaveText('171,075');
  await isRight(page, cities);
  expect((await seen(page)).shown.at(-1)!.id).toBe(cities[last]!.id);

  // A known city, by its name and by its number.
  const berlin = cities.findIndex(({ id }) => id === 'berlin/de/16/1');
  await goTo(page, 'Berlin, DE');
  await expect.poll(async () => (await seen(page)).first).toBe(berlin);
  await isRight(page, cities);
  await goTo(page, '100,000');
  await expect.poll(async () => (await seen(page)).first).toBe(99_999);
  await isRight(page, cities);
  const before = (await seen(page)).first;
  await press(page, 'Anywhere');
  await expect.poll(async () => (await seen(page)).first).not.toBe(before);
  await isRight(page, cities);

  // It is there after a reload and in another run of the browser, and is not loaded again.
  await page.reload();
  await count(page, '171,075');
  await expect(page.getByRole('button', { name: 'Load all cities' })).toHaveCount(0);
  await isRight(page, cities);
  await profile.quit();
  page = await profile.open('cities');
  await count(page, '171,075');

  // The memory is empty now: a jump shows the old rows until storage has answered, and each in its own place.
  const told = await states(page);
  for (const number of [171_075, 1, 60_000, 120_000]) {
    await goTo(page, String(number));
    await expect(page.locator(`.scroller li[aria-posinset="${number}"]`)).toBeVisible();
    await isRight(page, cities);
  }
  const { wasStale, rows } = await told.evaluate((all) => all);
  expect(wasStale).toBe(true);
  expect(Object.keys(rows).length).toBeGreaterThan(200);
  for (const [number, id] of Object.entries(rows)) expect(id).toBe(cities[Number(number)]?.id);
});

test('a row put in front shifts the window, and the scroll position stays', async ({ profile }) => {
  const page = await profile.open('cities');
  // A load that fails gives the reason, and can be tried again.
  await page.route('**/cities*.ndjson', (route) => route.fulfill({ status: 503 }));
  await press(page, 'Load all cities');
  await expect(page.getByRole('alert')).toContainText('503');
  expect(profile.faults.splice(0)).toEqual([expect.stringContaining('503')]);
  await page.unroute('**/cities*.ndjson');
  await load(page);
  await expect(page.getByRole('alert').filter({ visible: true })).toHaveCount(0);
  await goTo(page, '85,000');
  await expect.poll(async () => (await seen(page)).first).toBe(84_999);
  await isRight(page, cities);

  // Two windows overlap: their common rows stay all the time, even until the new ones are there.
  const kept = await scroller(page).evaluate(async (box) => {
    const ids = new Set([...box.querySelectorAll('li')].map(({ dataset }) => dataset.id));
    const removed: (string | undefined)[] = [];
    const added: (string | undefined)[] = [];
    const next = new Promise<void>((resolve) => {
      new MutationObserver((records) => {
        const idsOf = (nodes: NodeList) =>
          [...nodes].map((node) => (node as HTMLElement).dataset.id);
        for (const { addedNodes, removedNodes } of records) {
          removed.push(...idsOf(removedNodes));
          added.push(...idsOf(addedNodes));
        }
        if (added.length > 0) resolve();
      }).observe(box.querySelector('ol')!, { childList: true });
    });
    box.scrollTop += 20 * 44;
    await next;
    return { before: ids.size, removed: removed.length, added: added.length };
  });
  expect(kept).toEqual({ before: 80, removed: 20, added: 20 });
  await isRight(page, cities);

  const place = { id: expect.stringMatching(/^!/) as unknown as string, name: NEW };
  const { first } = await seen(page);
  await press(page, 'Put one in front');
  await count(page, '171,076');
  expect(await isRight(page, [place, ...cities])).toBe(first);
  const other = await profile.open('cities');
  await count(other, '171,076');
  expect((await seen(other)).first).toBe(0);
  await press(other, 'Put one in front');
  await count(page, '171,077');
  expect(await isRight(page, [place, place, ...cities])).toBe(first);
  await press(other, 'Remove the new ones');
  await count(page, '171,075');
  expect(await isRight(page, cities)).toBe(first);
  await isRight(other, cities);
});
