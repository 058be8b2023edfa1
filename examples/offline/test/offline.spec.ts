// An app whose server is away, refuses, or decides otherwise: what a person sees, and that no text of theirs is lost.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { start } from '../start.mjs';

const SAVED = 'Everything is saved at the server.';
let folder: string;
let app: Awaited<ReturnType<typeof start>>;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hedgerow-offline-'));
  app = await start({ port: 0, database: join(folder, 'issues.sqlite') });
});

test.afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

test.beforeEach(async ({ page }) => {
  page.on('pageerror', (error) => expect.soft(error).toBeUndefined());
  await page.goto(app.url);
  await says(page, SAVED);
});

const says = (page: Page, words: string) => expect(page.locator('#state-title')).toHaveText(words);
const flip = (page: Page, name: string, on: boolean) => page.getByLabel(name).setChecked(on);
const row = (page: Page, title: string) => page.locator(`#issues li:has([value="${title}"])`);
const mark = (page: Page, title: string) => row(page, title).getByText('not sent yet');
const card = (page: Page) => page.locator('#refusals li');
const colleague = async (page: Page, does: string) => {
  const pushed = page.waitForResponse('**/api/push');
  await page.getByRole('button', { name: does }).click();
  expect((await pushed).status()).toBe(200);
};

async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel('New issue').fill(title);
  await page.keyboard.press('Enter');
  await expect(row(page, title)).toBeVisible();
}

async function rename(page: Page, from: string, to: string): Promise<void> {
  const input = row(page, from).getByLabel('Title');
  await input.fill(to);
  await input.press('Enter');
}

test('offline, changes wait, over a reload too; plugged in, they are saved', async ({
  page,
  browser,
}) => {
  const other = await (await browser.newContext()).newPage();
  await other.goto(app.url);
  await add(page, 'Oil the hinge');
  await says(page, SAVED);
  await expect(row(other, 'Oil the hinge')).toBeVisible();

  await flip(page, 'Pull the plug', true);
  await says(page, 'Offline. Everything is kept on this device.');
  await rename(page, 'Oil the hinge', 'Oil both hinges');
  await says(page, 'Offline. 1 change waits on this device.');
  await add(page, 'Buy oil');
  await says(page, 'Offline. 2 changes wait on this device.');

  await page.reload();
  await says(page, 'Offline. 2 changes wait on this device.');
  for (const title of ['Oil both hinges', 'Buy oil']) await expect(mark(page, title)).toBeVisible();
  await expect(row(other, 'Oil the hinge')).toBeVisible();
  await expect(row(other, 'Buy oil')).toHaveCount(0);
  await expect(page.locator('#state-detail')).toHaveText(
    /Next try within (a second|\d+ seconds)\./,
  );
  // A second tab does not try itself, and hears of the state from the first.
  const tab = await page.context().newPage();
  await tab.goto(app.url);
  await says(tab, 'Offline. 2 changes wait on this device.');
  await expect(mark(tab, 'Buy oil')).toBeVisible();

  await flip(page, 'Pull the plug', false);
  await says(page, SAVED);
  for (const title of ['Oil both hinges', 'Buy oil']) {
    await expect(mark(page, title)).toBeHidden();
    await expect(row(other, title)).toBeVisible();
  }
  await says(tab, SAVED);
  await other.context().close();
});

test('an app shows that the server refuses, and sends everything once it accepts', async ({
  page,
}) => {
  await flip(page, 'Break the server', true);
  await says(page, 'The server refuses (503). Everything is kept on this device.');
  await add(page, 'Count the wrens');
  await says(page, 'The server refuses (503). 1 change waits on this device.');
  await flip(page, 'Sign me out', true);
  await flip(page, 'Break the server', false);
  await says(page, 'Please sign in again (401). 1 change waits on this device.');
  await expect(mark(page, 'Count the wrens')).toBeVisible();
  await flip(page, 'Sign me out', false);
  await says(page, SAVED);
  await expect(mark(page, 'Count the wrens')).toBeHidden();
});

test('a refused change is shown with its text, and can be written again', async ({ page }) => {
  await add(page, 'Plant a row');
  await says(page, SAVED);
  await flip(page, 'Pull the plug', true);
  await rename(page, 'Plant a row', 'Plant two rows of hazel');
  await says(page, 'Offline. 1 change waits on this device.');
  await colleague(page, 'Close the top one');

  // It hears of the colleague before it sends the change, which no longer fits, and is not sent.
  await flip(page, 'Pull the plug', false);
  await expect(card(page)).toContainText('Your change no longer fits');
  await expect(card(page)).toContainText('Why: a closed issue is not edited.');
  await expect(card(page).getByLabel('What you wrote')).toHaveValue('Plant two rows of hazel');
  await says(page, SAVED);
  await page.reload();
  await expect(card(page)).toContainText('You renamed “Plant a row” to:');
  await card(page).getByLabel('What you wrote').fill('Plant two rows of hazel, in spring');
  await card(page).getByRole('button', { name: 'Add as a new issue' }).click();
  await expect(card(page)).toHaveCount(0);
  await says(page, SAVED);
  await page.reload();
  await expect(row(page, 'Plant two rows of hazel, in spring')).toBeVisible();
  await expect(card(page)).toHaveCount(0);
});

test('of two who rename an issue neither overwrites the other unseen', async ({ page }) => {
  await add(page, 'Fix the stile');
  await says(page, SAVED);
  await flip(page, 'Pull the plug', true);
  await rename(page, 'Fix the stile', 'Fix the second step');
  await says(page, 'Offline. 1 change waits on this device.');
  await colleague(page, 'Rename the top one');
  // It hears of no change, so the server has to refuse it.
  await page.route('**/api/pull', (route) => route.fulfill({ status: 500 }));
  const pushed = page.waitForResponse('**/api/push');
  await flip(page, 'Pull the plug', false);
  await pushed;
  // The button is there for as long as the server fails; after that the app tries again by itself.
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.unroute('**/api/pull');
  await expect(card(page)).toContainText('The server did not take your change', {
    timeout: 45_000,
  });
  await expect(card(page)).toContainText(
    'somebody has renamed it to “Fix the second step, please”',
  );
  await card(page).getByRole('button', { name: 'Dismiss' }).click();
  await expect(card(page)).toHaveCount(0);
  await expect(row(page, 'Fix the second step, please')).toBeVisible();
});

test('text being typed stays, whatever comes in', async ({ page, browser }) => {
  // Typed before the one before is stored.
  await page.locator('#new').evaluate((form: HTMLFormElement) => {
    const input = form.querySelector('input')!;
    input.value = 'Weigh the acorns';
    form.requestSubmit();
    input.value = 'Sow the ac';
  });
  await expect(row(page, 'Weigh the acorns')).toBeVisible();
  await says(page, SAVED);
  await expect(page.getByLabel('New issue')).toHaveValue('Sow the ac');

  const other = await (await browser.newContext()).newPage();
  await other.goto(app.url);
  await add(page, 'Mend the fence');
  await row(page, 'Mend the fence').getByLabel('Title').focus();
  await page.keyboard.press('End');
  await page.keyboard.type(' at last');
  await rename(other, 'Mend the fence', 'Mend the wall');
  await expect(page.getByLabel('Close: Mend the wall')).toBeVisible();
  const focused = page.locator('#issues [name=title]:focus');
  await expect(focused).toHaveValue('Mend the fence at last');
  await page.keyboard.press('Enter');
  await expect(
    page.getByText('Not done: somebody has renamed it to “Mend the wall”'),
  ).toBeVisible();
  await expect(focused).toHaveValue('Mend the fence at last');
  await page.keyboard.press('Enter');
  await expect(row(other, 'Mend the fence at last')).toBeVisible();
  await other.context().close();
});
