/**
 * The ways to open the inspector, what a trace gives to the browser's tools, and its looks: light and dark, wide and
 * narrow.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.js';
import {
  expectNoErrors,
  inspector,
  madeIn,
  option,
  SLOWLY,
  tab,
  total,
  value,
} from './inspector-parts.js';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
/** Screenshots are kept if a folder is named. */
const SHOTS = process.env.INSPECTOR_SHOTS;

expectNoErrors();

test('it opens in a window and in a corner, without any of its code in the app @chromium', async ({
  chromiumPage,
}) => {
  const { page: app, context } = chromiumPage;
  const loaded: string[] = [];
  app.on('response', (response) => {
    if (response.request().frame() === app.mainFrame()) loaded.push(response.url());
  });
  const href = await madeIn(app);
  expect(loaded.filter((url) => url === href)).toEqual([]);
  const texts = await Promise.all(
    loaded
      .filter((url) => url.endsWith('.js'))
      .map(async (url) => (await app.request.get(url)).text()),
  );
  expect(texts.some((text) => text.includes('hedgerow-inspector'))).toBe(true);
  expect(texts.some((text) => text.includes('aria-activedescendant'))).toBe(false);

  const [popup] = await Promise.all([context.waitForEvent('page'), app.click('#window')]);
  await expect(total(popup)).toHaveText('2,001 rows', SLOWLY);
  // A long task of the app, which the strip shows.
  await app.evaluate(() => {
    performance.measure('a measure of the app', { start: performance.now(), duration: 5 });
    // A call of the test is no task of the page.
    setTimeout(() => {
      const end = performance.now() + 120;
      while (performance.now() < end);
    });
  });
  await tab(popup, 'Time').click();
  await expect(popup.getByRole('row').filter({ hasText: 'a measure of the app' })).toBeVisible();
  await expect(popup.getByRole('row').filter({ hasText: 'long task' }).first()).toBeVisible();
  await popup.close();

  await app.click('#corner');
  const frame = app.frameLocator('iframe[title="Hedgerow inspector"]');
  await expect(frame.getByText('2,001 rows')).toBeVisible(SLOWLY);
  await frame.getByRole('button', { name: 'Close' }).click();
  await expect(app.locator('iframe')).toHaveCount(0);
});

/** An entry of a recording of the performance panel. */
interface Recorded {
  readonly name: string;
  readonly ph: string;
  readonly args: { readonly detail?: string; readonly data?: { readonly detail?: string } };
}

test('the performance panel of the browser gets calls and slices of a traced store @chromium', async ({
  chromiumPage,
}) => {
  const { page: app, context } = chromiumPage;
  await madeIn(app);
  const session = await context.newCDPSession(app);
  const recorded: Recorded[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    recorded.push(...(value as unknown as Recorded[]));
  });
  const over = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['blink.user_timing'] },
  });
  const slices = await app.evaluate(async () => {
    const running = window.inspected.trace(window.inspectedStore);
    const rows = Array.from({ length: 100_000 }, (_, n) => [`more/${n}`, { n }] as const);
    const { slices } = (await window.inspectedStore.putMany(rows)).stats;
    running.stop();
    // No longer traced.
    await window.inspectedStore.clear();
    return slices;
  });
  await session.send('Tracing.end');
  await over;
  const begun = recorded.filter(({ name, ph }) => name.startsWith('hedgerow: ') && ph === 'b');
  const of = (name: string) => begun.filter((one) => one.name === `hedgerow: ${name}`);
  expect(of('putMany')).toHaveLength(1);
  expect(of('clear')).toEqual([]);
  expect(of('slice').length).toBeGreaterThan(1);
  expect(of('slice').length).toBeLessThanOrEqual(slices + 1);
  const { detail, data } = (of('putMany')[0] as Recorded).args;
  expect(JSON.parse(detail ?? data?.detail ?? '{}').devtools).toMatchObject({
    dataType: 'track-entry',
    trackGroup: 'Hedgerow',
    track: 'inspected: calls',
  });
  expect(await app.evaluate(() => performance.getEntriesByType('measure').length)).toBe(0);
});

/** Lists axe's objections, in words. */
async function faultsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run(),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { html: string }[];
  }[];
}

const SIZES = { wide: { width: 1200, height: 760 }, narrow: { width: 390, height: 760 } };

test('axe finds no fault in any part, and all fit, in light and dark, wide and narrow @chromium', async ({
  chromiumPage,
}) => {
  test.setTimeout(600_000);
  const { page: app, context } = chromiumPage;
  const href = await madeIn(app);
  const page = await inspector(context, href);
  await expect(page.getByRole('row').filter({ hasText: 'inspected' })).toContainText(
    '2,001',
    SLOWLY,
  );
  const check = async (name: string, of = page) => {
    for (const [size, viewport] of Object.entries(SIZES)) {
      await of.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await of.emulateMedia({ colorScheme });
        if (SHOTS) {
          mkdirSync(SHOTS, { recursive: true });
          await of.screenshot({ path: join(SHOTS, `${name}-${size}-${colorScheme}.png`) });
        }
        expect(await faultsOf(of), `${name}, ${size}, ${colorScheme}`).toEqual([]);
        const overhang = await of.evaluate(() => {
          const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
          return [scrollWidth - clientWidth, scrollHeight - clientHeight];
        });
        expect(overhang, `${name}, ${size}: larger than the screen`).toEqual([0, 0]);
      }
    }
    await of.setViewportSize(SIZES.wide);
  };
  await check('stores');
  await page.getByRole('button', { name: 'inspected' }).click();
  await option(page, 'issue/000002').click();
  await expect(value(page).locator('pre')).toContainText('Mend gate 2');
  await check('rows');
  await value(page).getByRole('button', { name: 'Edit' }).click();
  await check('edit');
  await page.keyboard.press('Escape');
  await value(page).getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await check('dialog');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Order').selectOption({ index: 1 });
  await expect(total(page)).toHaveText('2,000 entries');
  await check('index');
  await tab(page, 'Branches').click();
  await page.getByRole('button', { name: 'Changes of draft' }).click();
  await option(page, 'issue/000003').click();
  await check('compare');
  await tab(page, 'Branches').click();
  await expect(page.getByRole('row').filter({ hasText: 'draft' }).first()).toBeVisible();
  await check('branches');
  await tab(page, 'Storage').click();
  await page.getByRole('button', { name: 'Measure' }).click();
  await expect(page.locator('.segment').first()).toBeVisible();
  await check('storage');
  await tab(page, 'Tabs').click();
  await expect(page.getByRole('row').filter({ hasText: 'collector' })).toBeVisible();
  await check('tabs');
  await tab(page, 'Verify').click();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await expect(page.getByText('No fault.')).toBeVisible(SLOWLY);
  await check('verify');
  await tab(page, 'Export').click();
  await check('export');
  await tab(page, 'Time').click();
  await expect(page.getByRole('row').filter({ hasText: 'verify' })).toBeVisible();
  await check('time');
  // As Firefox before 126 has it.
  await page.evaluate(() => {
    Object.defineProperty(IDBFactory.prototype, 'databases', { value: undefined });
  });
  await page.getByRole('button', { name: 'All stores' }).click();
  await expect(page.getByLabel('Name of the store')).toBeVisible();
  await check('names');

  // The output of a trace.
  await app.evaluate(async () => {
    window.inspected.trace(window.inspectedStore);
    window.inspectedStore.watch({ prefix: 'more/' }, () => {});
    const rows = Array.from({ length: 50_000 }, (_, n) => [`more/${n}`, { n }] as const);
    await window.inspectedStore.putMany(rows);
  });
  await page.close();
  const [popup] = await Promise.all([context.waitForEvent('page'), app.click('#window')]);
  await expect(total(popup)).toHaveText('52,001 rows', SLOWLY);
  await tab(popup, 'Time').click();
  await expect(popup.getByText('The page traces inspected.')).toBeVisible();
  await expect(popup.getByRole('row').filter({ hasText: '"more/"' })).toContainText('50,000');
  await check('traced', popup);
});
