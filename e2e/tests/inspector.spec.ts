/** The inspector in a browser: by mouse and by keys, and its effects on a store. */
import { expect, test } from './fixtures.js';
import {
  expectNoErrors,
  inspector,
  list,
  madeIn,
  message,
  option,
  rootOf,
  SLOWLY,
  tab,
  total,
  value,
} from './inspector-parts.js';

expectNoErrors();

test('a store is found, searched, edited and compared @chromium', async ({ chromiumPage }) => {
  const { page: app, context } = chromiumPage;
  const href = await madeIn(app);
  const root = await rootOf(app);
  // A collection would delete the compared commits below.
  await app.evaluate(() => Object.assign(window, { kept: window.inspectedStore.snapshot() }));
  const page = await inspector(context, href);

  // The list of stores, with their contents.
  const line = page.getByRole('row').filter({ hasText: 'inspected' });
  await expect(line).toContainText('2,001', SLOWLY);
  await expect(line).toContainText('main, draft');
  await page.getByRole('button', { name: 'inspected' }).click();

  // Rows, by prefix.
  await expect(total(page)).toHaveText('2,001 rows', SLOWLY);
  await page.getByRole('searchbox').fill('issue/0012');
  await expect(total(page)).toHaveText('100 rows');
  await option(page, 'issue/001207').click();
  await expect(value(page).locator('pre')).toContainText('"title": "Mend gate 1207"');

  // By an index, composite and of words.
  await page.getByLabel('Order').selectOption({ index: 1 });
  await page.getByRole('searchbox').fill('["done", 8]');
  await expect(total(page)).toHaveText('2 entries');
  await expect(list(page)).toContainText('["done",8]');
  await page.getByLabel('Order').selectOption({ index: 2 });
  await page.getByRole('searchbox').fill('again');
  await expect(total(page)).toHaveText('40 entries');

  // To a key, in all rows.
  await page.getByRole('searchbox').fill('issue/001500');
  await page.getByRole('button', { name: 'Go to key' }).click();
  await expect(value(page).getByRole('heading')).toHaveText('issue/001500');
  await expect(option(page, 'issue/001501')).toBeVisible();
  expect(await rootOf(app)).toBe(root);

  // The app sees an edit, with its index; the inspector sees the app's writes.
  await option(page, 'issue/001501').click();
  await value(page).getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Value' }).fill('{ "n": 1, "state": "strange" ');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toContainText('not JSON');
  await page.getByRole('textbox', { name: 'Value' }).fill('{ "n": 1, "state": "strange" }');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(message(page)).toContainText('is stored');
  const strange = () =>
    app.evaluate(() =>
      window.inspectedStore.scan({ index: 'byState', equals: 'strange' }).keys().toArray(),
    );
  await expect.poll(strange).toEqual(['issue/001501']);
  await app.evaluate(() => window.inspectedStore.put('issue/001501', 'from the app'));
  await expect(value(page).locator('pre')).toHaveText('"from the app"');
  await value(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await app.evaluate(() => window.inspectedStore.has('issue/001501'))).toBe(true);
  await value(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => app.evaluate(() => window.inspectedStore.count())).toBe(2000);

  // The changes of a branch.
  await tab(page, 'Branches').click();
  await expect(page.getByRole('row').filter({ hasText: 'index /state, /n' })).toContainText(
    '1,999',
  );
  await page.getByRole('button', { name: 'Changes of draft' }).click();
  await expect(page.getByText('1 added, 1 changed, 1 deleted')).toBeVisible();
  await option(page, 'issue/000003').click();
  await expect(page.locator('.line.del')).toContainText('"state": "open"');
  await expect(page.locator('.line.add')).toContainText('"state": "closed"');
  // Any two roots, pasted.
  await page.getByLabel('From: root').fill(root);
  await page.getByLabel('To: root').fill(await rootOf(app));
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByText('0 added, 0 changed, 1 deleted')).toBeVisible();
  await page.getByLabel('To: root').fill('abc');
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(message(page)).toContainText('invalid-argument');
});

test('a store is measured, verified, exported, and opened from its file @chromium', async ({
  chromiumPage,
}) => {
  const { page: app, context } = chromiumPage;
  const href = await madeIn(app);
  const root = await rootOf(app);
  const page = await inspector(context, href, '#store=inspected&tab=storage');

  await expect(page.locator('.facts')).toContainText(/Health(best-effort|persistent)/, SLOWLY);
  // A collection may come in between.
  await expect(async () => {
    await page.getByRole('button', { name: 'Measure' }).click();
    await expect(page.getByText('are reached by a branch or a fork')).toBeVisible();
    const segments = await app.evaluate(
      async () => (await window.inspectedStore.health.stats()).segments,
    );
    expect(await page.locator('.segment').count()).toBe(segments);
  }).toPass(SLOWLY);

  // The app is one tab, this page another.
  await tab(page, 'Tabs').click();
  await expect(page.getByText('2 tabs and workers')).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: 'collector' })).toContainText('held');

  await tab(page, 'Verify').click();
  await page.getByLabel('check the entries of indexes').check();
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await expect(page.getByText('No fault.')).toBeVisible(SLOWLY);
  await expect(page.getByText('2,001 rows, ')).toBeVisible();

  await tab(page, 'Time').click();
  await expect(page.getByRole('row').filter({ hasText: 'verify' })).toContainText('this page');

  await tab(page, 'Export').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export to a file' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`inspected-${root.slice(0, 8)}.hedgerow`);
  await page.locator('input[type=file]').setInputFiles(await download.path());
  await expect(page.getByRole('heading', { level: 1 })).toContainText('a file, read only', SLOWLY);
  await expect(total(page)).toHaveText('2,001 rows');
  await expect(page.locator('header code')).toHaveAttribute('title', root);
  await page.getByLabel('Branch').selectOption('draft');
  await expect(option(page, 'note')).toHaveCount(0);
  await page.getByRole('searchbox').fill('note');
  await option(page, 'note').click();
  await expect(value(page).locator('pre')).toHaveText('"a draft"');
  await expect(page.getByRole('button', { name: /Edit|Delete|New row/ })).toHaveCount(0);
  // All of this has neither changed the store nor made another one.
  expect(await rootOf(app)).toBe(root);
  const databases = await app.evaluate(async () =>
    (await indexedDB.databases()).map(({ name }) => name),
  );
  expect(databases.filter((name) => name?.startsWith('hedgerow/'))).toEqual(['hedgerow/inspected']);
});

test('a damaged store that does not open is shown with its faults @chromium', async ({
  chromiumPage,
}) => {
  const { page: app, context } = chromiumPage;
  const href = await madeIn(app);
  await app.evaluate(() => window.inspectedStore.close());
  // All segments are gone, and the tables say that they are there.
  await app.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('hedgerow/inspected');
        opening.onsuccess = () => {
          const work = opening.result.transaction('segments', 'readwrite');
          work.objectStore('segments').clear();
          work.oncomplete = () => {
            opening.result.close();
            resolve();
          };
          work.onerror = reject;
        };
      }),
  );
  const page = await inspector(context, href, '#store=inspected');
  await expect(message(page)).toContainText('missing-chunk', SLOWLY);
  await expect(page.getByRole('tablist')).toHaveCount(0);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Faults', exact: true })).toContainText(
    /missing-chunk|corrupt-chunk/,
    SLOWLY,
  );
});

test('keys reach all of it @chromium', async ({ chromiumPage }) => {
  const { page: app, context } = chromiumPage;
  const href = await madeIn(app);
  const page = await inspector(context, href);
  const { keyboard } = page;
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await expect(page.getByRole('row').filter({ hasText: 'inspected' })).toContainText(
    '2,001',
    SLOWLY,
  );
  for (let n = 0; n < 8 && (await focused()) !== 'inspected'; n++) await keyboard.press('Tab');
  expect(await focused()).toBe('inspected');
  await keyboard.press('Enter');
  await expect(tab(page, 'Rows')).toBeFocused(SLOWLY);
  await expect(total(page)).toHaveText('2,001 rows');

  // The tabs, by arrows.
  await keyboard.press('ArrowRight');
  await expect(tab(page, 'Branches')).toBeFocused();
  await expect(tab(page, 'Branches')).toHaveAttribute('aria-selected', 'true');
  await keyboard.press('Home');
  await expect(tab(page, 'Rows')).toHaveAttribute('aria-selected', 'true');
  await expect(total(page)).toHaveText('2,001 rows');

  // Into the list, and through it.
  await keyboard.press('Tab');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await keyboard.press('ArrowDown');
  await expect(list(page)).toBeFocused();
  await keyboard.press('End');
  await expect(value(page).getByRole('heading')).toHaveText('photo');
  await expect(value(page).locator('pre')).toContainText('00000000  ');
  await keyboard.press('Home');
  await keyboard.press('ArrowDown');
  await expect(value(page).getByRole('heading')).toHaveText('issue/000001');
  await expect(list(page).getByRole('option', { selected: true })).toContainText('issue/000001');
  const active = await list(page).getAttribute('aria-activedescendant');
  expect(await page.locator(`#${active}`).textContent()).toContain('issue/000001');

  // Edit, save; a new row; delete.
  await keyboard.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Value' })).toBeFocused();
  await keyboard.press('ControlOrMeta+A');
  await keyboard.type('"by keys"');
  await keyboard.press('Control+Enter');
  await expect(value(page).locator('pre')).toHaveText('"by keys"');
  await expect(list(page)).toBeFocused();
  await keyboard.press('n');
  await expect(page.getByRole('textbox', { name: 'Key' })).toBeFocused();
  await keyboard.type('issue/000001/a');
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.type('[1, 2]');
  await keyboard.press('Control+Enter');
  await expect(total(page)).toHaveText('2,002 rows');
  await expect(value(page).getByRole('heading')).toHaveText('issue/000001/a');
  await keyboard.press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await keyboard.type('issue/000001/');
  await expect(total(page)).toHaveText('1 row');
  await keyboard.press('ArrowDown');
  await keyboard.press('Home');
  await keyboard.press('Delete');
  await expect(page.getByRole('dialog')).toBeVisible();
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  await expect.poll(() => app.evaluate(() => window.inspectedStore.count())).toBe(2001);
  expect(await app.evaluate(() => window.inspectedStore.get('issue/000001'))).toBe('by keys');
});

test('a list of any length scrolls everywhere, and row by row @chromium', async ({
  chromiumPage,
}) => {
  const { page: app, context } = chromiumPage;
  await app.goto('/inspector.html');
  await app.waitForFunction(() => window.inspected !== undefined);
  const COUNT = 400_000;
  await app.evaluate((count) => window.inspected.makeLong(count), COUNT);
  const page = await inspector(
    context,
    await app.evaluate(() => window.inspected.href),
    '#store=long',
  );
  await expect(total(page)).toHaveText('400,000 rows', SLOWLY);
  const first = async () => (await list(page).getByRole('option').first().textContent()) ?? '';
  expect(await first()).toContain('issue/000000');
  await list(page).evaluate((element) => {
    element.scrollTop = element.scrollHeight / 2;
  });
  await expect(list(page).getByRole('option').first()).toContainText(/issue\/(199|200)\d{3}/);
  // The wheel still moves by rows.
  const numberOf = async () => Number(/issue\/(\d{6})/.exec(await first())?.[1]);
  const before = await numberOf();
  await list(page).hover();
  await page.mouse.wheel(0, 28 * 5);
  await expect.poll(numberOf).toBe(before + 5);
  await list(page).press('End');
  await expect(list(page).getByRole('option', { selected: true })).toContainText('issue/399999');
  await expect(value(page).locator('pre')).toHaveText('399999');
  // Only rows in view are elements.
  expect(await list(page).getByRole('option').count()).toBeLessThan(60);
});
