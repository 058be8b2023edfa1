// The playground: programs run against the package, the drawings agree with the store's own figures, and errors lead to
// their pages.

import { expect, test } from '@playwright/test';
import { faultsEverywhere, go, SIZES, shots } from './reading.mjs';

const program = (page) => page.getByLabel('Program', { exact: true });
const said = (page) => page.locator('.play-said');
const output = (page) => page.getByLabel('Output');
const place = (page) => page.locator('.play-place');

/** Opens the page, and waits until its script reacts. */
async function opened(page) {
  await go(page, 'playground.html');
  await expect(page.locator('.play')).toHaveAttribute('aria-busy', 'false');
}

/** Runs the program in the editor. */
const run = (page) => page.getByRole('button', { name: 'Run', exact: true }).click();

async function ran(page) {
  await run(page);
  await expect(said(page)).toContainText('Done in', { timeout: 30_000 });
}

async function runs(page, code) {
  await program(page).fill(code);
  await ran(page);
}

/** Counts the nodes of the tree of rows, from the root: as drawn, and as `db.health.stats()` has them. */
async function nodesOf(page) {
  const drawn = await page
    .getByRole('region', { name: 'Rows', exact: true })
    .locator('li > p span')
    .allInnerTexts();
  const stats = page.locator('.play-stats div', { hasText: 'Nodes, from the root' }).locator('dd');
  await expect(stats).toBeVisible();
  const numbers = (text) => [...text.matchAll(/[\d,]+/g)].map(([digits]) => digits);
  return {
    drawn: drawn.map((text) => numbers(text)[0]),
    told: numbers(await stats.innerText()),
  };
}

test("an example runs; the drawing shows the store's tree, and changes after an edit", async ({
  page,
}) => {
  await opened(page);
  await ran(page);
  await expect(output(page)).toContainText('key: "tree/1500"');
  await expect(output(page).locator('pre').last()).toHaveText('true');
  await expect(place(page)).toContainText('Commit 3 of 3 · trees');
  const { drawn, told } = await nodesOf(page);
  expect(drawn.length).toBeGreaterThan(1);
  expect(drawn).toEqual(told);

  // One leaf is new, and the path above it; the first commit is new as a whole.
  const leaves = page.locator('.play-tree li', { hasText: 'Leaves' }).locator('p span');
  await page.getByRole('button', { name: 'Earlier' }).click();
  await expect(place(page)).toContainText('Commit 2 of 3');
  await expect(leaves).toContainText('· 1 new');
  await page.getByLabel('Commit', { exact: true }).press('Home');
  await expect(place(page)).toContainText('Commit 1 of 3');
  await expect(leaves).toContainText(`${drawn.at(-1)} new`);
  await page.getByLabel('Commit', { exact: true }).press('End');

  const before = await place(page).innerText();
  const fresh = page.locator('.play-tree .fresh').first();
  const path = await fresh.getAttribute('d');
  await page.getByLabel('With the open store').fill("db.put('tree/0001', { height: 99 })");
  await page.getByRole('button', { name: 'Do it' }).click();
  await expect(place(page)).toContainText('Commit 4 of 4');
  expect(await place(page).innerText()).not.toBe(before);
  await expect(leaves).toContainText('· 1 new');
  await expect(
    page.locator('.play-tree li', { hasText: 'Leaves' }).locator('path.fresh'),
  ).not.toHaveAttribute('d', path);
  const after = await nodesOf(page);
  expect(after.drawn).toEqual(after.told);
  expect(await faultsEverywhere(page, shots(page, 'playground-run'))).toEqual([]);
});

test('indexes have trees of their own, and a live list hears of a line', async ({ page }) => {
  await opened(page);
  await page.getByLabel('Example').selectOption('table');
  await ran(page);
  await expect(
    page.getByRole('region', { name: 'Index status, modified of issues/', exact: true }),
  ).toBeVisible();
  await expect(output(page)).not.toContainText('A new gate');
  await page.getByRole('button', { name: 'Do it' }).click();
  await expect(output(page)).toContainText('A new gate');
});

test('an error is shown with its line, and leads to its page', async ({ page }) => {
  await opened(page);
  await page.getByLabel('Example').selectOption('error');
  await run(page);
  const failure = page.getByRole('alert');
  await expect(failure).toContainText('exists');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    failure.getByRole('link', { name: /What exists means/ }).click(),
  ]);
  await expect(popup.getByRole('heading', { level: 1 })).toContainText('exists');
  expect(new URL(popup.url()).pathname).toBe('/errors/exists.html');
  expect(await faultsEverywhere(page, shots(page, 'playground-error'))).toEqual([]);

  await program(page).fill("import { open } from 'hedgerow';\n\nnull.gate;\n");
  await run(page);
  await expect(failure).toContainText('TypeError in line 3');
  await expect(failure.getByRole('link')).toHaveCount(0);
  await program(page).fill('interface Gate {}\n');
  await run(page);
  await expect(failure).toContainText('JavaScript, without types');
  await program(page).fill("import { x } from 'dexie';\n");
  await run(page);
  await expect(failure).toContainText('dexie is not here');
});

test('every example runs; two of them end with the error that they are about', async ({ page }) => {
  test.setTimeout(180_000);
  await opened(page);
  const names = await page
    .getByLabel('Example')
    .locator('option')
    .evaluateAll((options) => options.map(({ value }) => value));
  const ends = {};
  for (const name of names) {
    await page.getByLabel('Example').selectOption(name);
    await run(page);
    const alert = page.getByRole('alert').locator('strong');
    const end = said(page).filter({ hasText: 'Done in' }).or(alert);
    await expect(end.first()).toBeVisible({ timeout: 60_000 });
    ends[name] = (await alert.count()) > 0 ? await alert.innerText() : 'done';
    await expect(place(page)).toContainText('Commit');
    if (name === 'slices') {
      await expect(page.locator('.play-strip')).toContainText(/[1-9]\d* times/);
    }
  }
  const expected = Object.fromEntries(names.map((name) => [name, 'done']));
  expect(ends).toEqual({ ...expected, proof: 'invalid-data/proof', error: 'exists' });
});

test('an endless program is stopped, and the next one runs', async ({ page }) => {
  await opened(page);
  await program(page).fill('for (;;);');
  await run(page);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(said(page)).toContainText('Stopped');
  await runs(page, "console.log('here', [1, new Map([['a', 1n]])]);");
  await expect(output(page)).toContainText('here [ 1, Map [ [ "a", 1n ] ] ]');
});

test('keys reach the editor, and leave it', async ({ page }) => {
  await opened(page);
  const field = program(page);
  await field.fill('');
  await field.press('Tab');
  await expect(field).toHaveValue('  ');
  await page.keyboard.type('if (1) {');
  await page.keyboard.press('Enter');
  await page.keyboard.type('console.log(7)');
  await expect(field).toHaveValue('  if (1) {\n    console.log(7)');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Shift+Tab');
  await expect(field).toHaveValue('if (1) {\n  console.log(7)');
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('  if (1) {\n    console.log(7)');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('}');
  await page.keyboard.press('Control+Enter');
  await expect(said(page)).toContainText('Done in');
  await expect(output(page)).toContainText('7');
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeFocused();
});

test('a link has the program, which waits to be run', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await opened(page);
  const code = "console.log('von Hand: ä, 🐝');\n";
  await program(page).fill(code);
  await page.getByRole('button', { name: 'Copy a link' }).click();
  await expect(said(page)).toContainText('link');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toBe(page.url());
  const other = await context.newPage();
  await other.goto(link);
  await expect(program(other)).toHaveValue(code);
  await expect(other.getByText('This program came with the link.')).toBeVisible();
  await expect(output(other)).not.toContainText('von Hand');
  await ran(other);
  await expect(output(other)).toContainText('von Hand: ä, 🐝');
});

test('a store in IndexedDB stays until it is deleted', async ({ page }) => {
  const code =
    "import { open } from 'hedgerow';\nconst db = await open('kept');\nconsole.log(await db.count());\nawait db.put('row/' + (await db.count()), 1);\n";
  const databases = () =>
    page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  await opened(page);
  await page.getByLabel('Kept in').selectOption('idb');
  await runs(page, code);
  await expect(output(page)).toContainText('0');
  expect(await faultsEverywhere(page, shots(page, 'playground-idb'))).toEqual([]);
  await page.setViewportSize(SIZES.desktop);

  // The inspector is a page of this site, and of its origin.
  const [inspector] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Inspect what is kept' }).click(),
  ]);
  await inspector.getByRole('button', { name: 'playground/kept' }).click();
  await expect(inspector.locator('.rows output')).toHaveText('1 row');
  await inspector.close();
  await runs(page, code);
  await expect(output(page).locator('pre')).toHaveText(['1']);
  // Old chunks are drawn, and are not new.
  await expect(place(page)).toContainText('Commit 2 of 2');
  await page.getByRole('button', { name: 'Earlier' }).click();
  await expect(page.locator('.play-change')).toContainText('Nothing is new');
  expect(await databases()).toContain('hedgerow/playground/kept');
  await page.getByRole('button', { name: 'Delete what is kept' }).click();
  await expect(said(page)).toContainText('1 store deleted');
  expect((await databases()).filter((name) => name.startsWith('hedgerow/'))).toEqual([]);
});
