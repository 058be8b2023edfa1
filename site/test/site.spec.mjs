// The built site, as people read it: light and dark, on desktops and phones, by keyboard. `npm run docs -- --build`
// builds it. The tests look at one page of each kind in all of these ways, and at each other page in light; with
// `SITE_PAGES=all` at each page in all of them. `SITE_SHOTS=folder` keeps a picture of each.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { faultsOf, go, overhang, SCHEMES, SIZES } from './reading.mjs';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));

/** One page of each kind. */
const KINDS = [
  'index.html',
  'tables.html',
  'testing-an-app.html',
  'trees.html',
  'comparison.html',
  'benchmark.html',
  'playground.html',
  'errors/quota-exceeded.html',
  'reference/hedgerow.html',
  'there-is-no-such-page.html',
];
const every = () =>
  readdirSync(DIST, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    // The page of the inspector is no page of the site.
    .filter((name) => name.endsWith('.html') && !name.startsWith('assets/'))
    .sort();
const PAGES = process.env.SITE_PAGES === 'all' ? every() : KINDS;

const settled = (page) => page.evaluate(() => document.fonts.ready.then(() => {}));

for (const name of PAGES) {
  test(`${name} has no fault that axe finds, and fits, in light and dark, on desktops and phones`, async ({
    page,
  }) => {
    const foreign = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(process.env.SITE_URL)) foreign.push(request.url());
    });
    await go(page, name);
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const isDark = colorScheme === 'dark';
        await expect(page.locator('html')).toHaveClass(isDark ? /\bdark\b/ : /^(?!.*\bdark\b)/);
        await settled(page);
        if (process.env.SITE_SHOTS) {
          mkdirSync(process.env.SITE_SHOTS, { recursive: true });
          const file = `${name.replaceAll('/', '-')}-${size}-${colorScheme}.png`;
          await page.screenshot({ path: join(process.env.SITE_SHOTS, file), fullPage: true });
        }
        expect(await faultsOf(page), `${size}, ${colorScheme}`).toEqual([]);
        expect(await overhang(page), `${size}: how much wider than the screen`).toBe(0);
      }
    }
    const broken = await page.evaluate(async () => {
      const images = [...document.images];
      for (const image of images) image.loading = 'eager';
      await Promise.allSettled(images.map((image) => image.decode()));
      return images.filter((image) => image.naturalWidth === 0).map((image) => image.src);
    });
    expect(broken).toEqual([]);
    expect(foreign, 'nothing is loaded from elsewhere').toEqual([]);
  });
}

/** Pages that are open at once: more than there are cores, since some of them load while others are checked. */
const TABS = 4;
/** Pages of one test: so each test has time enough on a slow machine, however many pages the site has. */
const GROUP = 16;

const others = every().filter((name) => !PAGES.includes(name));
for (let at = 0; at < others.length; at += GROUP) {
  const group = others.slice(at, at + GROUP);
  test(`axe finds no fault on ${group[0]} and the next pages, and each fits, on desktops and phones`, async ({
    context,
  }) => {
    test.setTimeout(240_000);
    const left = [...group];
    const seen = [];
    const faults = {};
    const look = async () => {
      const page = await context.newPage();
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        await page.setViewportSize(SIZES.desktop);
        await go(page, name);
        await settled(page);
        const found = await faultsOf(page);
        for (const [size, viewport] of Object.entries(SIZES)) {
          await page.setViewportSize(viewport);
          const wider = await overhang(page);
          if (wider !== 0) found.push(`${size}: ${wider} pixels wider than the screen`);
        }
        if (found.length > 0) faults[name] = found;
        seen.push(name);
      }
    };
    await Promise.all(Array.from({ length: TABS }, look));
    expect(faults).toEqual({});
    expect(seen.sort()).toEqual(group);
  });
}

test('the search finds an error by its code, by keyboard alone', async ({ page }) => {
  await go(page, 'index.html');
  const field = page.locator('.VPLocalSearchBox input');
  // The page hears keys once its script runs.
  await expect(async () => {
    if (!(await field.isVisible())) await page.keyboard.press('Control+k');
    await expect(field).toBeFocused({ timeout: 1_000 });
  }).toPass();
  await page.keyboard.type('quota-exceeded');
  await expect(page.locator('.VPLocalSearchBox .result').first()).toContainText('quota-exceeded');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('quota-exceeded');
  expect(new URL(page.url()).pathname).toBe('/errors/quota-exceeded.html');
});

test('the first tab stop skips to the text', async ({ page }) => {
  await go(page, 'tables.html');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).hash).toBe('#VPContent');
});

test('a phone has a menu of all pages', async ({ page }) => {
  await page.setViewportSize(SIZES.phone);
  await go(page, 'keys.html');
  const menu = page.locator('.VPLocalNav button.menu');
  // It does not react before the script of the page runs.
  await expect(async () => {
    if ((await menu.getAttribute('aria-expanded')) !== 'true') await menu.click();
    await expect(menu).toHaveAttribute('aria-expanded', 'true', { timeout: 1_000 });
  }).toPass();
  await page.getByRole('link', { name: 'Backup and restore' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Backup and restore');
});

test('an unknown address says so, and leads back', async ({ page }) => {
  const response = await go(page, 'no/such/page.html');
  expect(response.status()).toBe(404);
  await expect(page.getByText('There is no such page')).toBeVisible();
  await page.getByRole('link', { name: 'To the first page' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Hedgerow');
});

test('programs find a list of the pages, and their text', () => {
  const list = readFileSync(join(DIST, 'llms.txt'), 'utf8');
  const links = [...list.matchAll(/\]\(\/([^)]+)\)/g)].map(([, link]) => link);
  expect(links.length).toBeGreaterThan(80);
  const there = new Set(every());
  expect(links.filter((link) => !there.has(link))).toEqual([]);
  const full = readFileSync(join(DIST, 'llms-full.txt'), 'utf8');
  for (const words of ['# Keys', '# `quota-exceeded`', '# API reference'])
    expect(full).toContain(words);
});
