/** The same app in each framework, as a person uses it. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { glueOf } from '../src/common/glue.js';
import { test } from './profile.js';

const APPS = ['react', 'vue', 'svelte', 'solid', 'angular'];

/** Returns the lines of an app's code. */
function linesOf(app: string): string[] {
  const folder = new URL(`../src/${app}/`, import.meta.url);
  const files = readdirSync(folder).sort();
  return files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n'));
}

const glueOfApp = (app: string) => glueOf(linesOf(app).join('\n'));

const rows = (page: Page) => page.locator('section li');
const titles = (page: Page) => rows(page).getByRole('checkbox');
const box = (page: Page, name: string) => page.getByRole('checkbox', { name, exact: true });
const shown = (page: Page, list: string[]) => expect(titles(page)).toHaveText(list);
const count = (page: Page, words: string) => expect(page.locator('.count')).toHaveText(words);
const filter = (page: Page, name: string) => page.getByRole('radio', { name }).check();

async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel('New issue').fill(title);
  await page.keyboard.press('Enter');
  await expect(titles(page).first()).toHaveText(title);
}

/** Hides the list and shows it again. Resolves to its texts in the turn and frame in which it came. */
async function hideAndShow(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Hide the list' }).click();
  await expect(page.locator('section')).toHaveCount(0);
  const told = page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const seen: string[] = [];
        const look = () => {
          const section = document.querySelector('section');
          if (!section) return;
          seen.push(section.querySelector('.hint')?.textContent ?? '');
          if (section.querySelectorAll('li').length === 0) return;
          observer.disconnect();
          resolve(seen.filter((text) => text.trim() !== ''));
        };
        const observer = new MutationObserver(look);
        observer.observe(document.querySelector('#app')!, {
          childList: true,
          subtree: true,
          characterData: true,
        });
      }),
  );
  await page.getByRole('button', { name: 'Show the list' }).click();
  return told;
}

for (const [nth, app] of APPS.entries()) {
  test(`${app}: adds, toggles, filters and counts; other tabs, reloads, a second mount`, async ({
    profile,
  }) => {
    const page = await profile.open(app);
    await count(page, 'No open issues');
    await expect(page.getByText('No open issues.', { exact: true })).toBeVisible();
    await filter(page, 'all');
    await expect(page.getByText('No issues yet. Write the first one.')).toBeVisible();
    await filter(page, 'open');

    await add(page, 'Oil the hinge');
    await count(page, '1 open issue');
    await add(page, 'Count the wrens');
    await add(page, 'Plant a row');
    await shown(page, ['Plant a row', 'Count the wrens', 'Oil the hinge']);
    await count(page, '3 open issues');
    await expect(page.getByLabel('New issue')).toHaveValue('');

    await box(page, 'Count the wrens').click();
    await shown(page, ['Plant a row', 'Oil the hinge']);
    await count(page, '2 open issues');
    await filter(page, 'closed');
    await shown(page, ['Count the wrens']);
    await expect(box(page, 'Count the wrens')).toBeChecked();
    await filter(page, 'all');
    await shown(page, ['Count the wrens', 'Plant a row', 'Oil the hinge']);
    await expect(box(page, 'Oil the hinge')).not.toBeChecked();

    // The table refuses it, and the typed text stays.
    await page.getByLabel('New issue').fill('x'.repeat(201));
    await page.keyboard.press('Enter');
    await expect(
      page.getByRole('alert').getByText('a title has at most 200 letters'),
    ).toBeVisible();
    await expect(page.getByLabel('New issue')).toHaveValue('x'.repeat(201));
    await shown(page, ['Count the wrens', 'Plant a row', 'Oil the hinge']);

    // Another tab, and another framework.
    const other = await profile.open(APPS[(nth + 1) % APPS.length]!);
    await shown(other, ['Plant a row', 'Oil the hinge']);
    await add(other, 'Mend the fence');
    await box(other, 'Plant a row').click();
    await shown(page, ['Plant a row', 'Mend the fence', 'Count the wrens', 'Oil the hinge']);
    await expect(box(page, 'Plant a row')).toBeChecked();
    await count(page, '2 open issues');
    await box(page, 'Plant a row').click();
    await shown(other, ['Plant a row', 'Mend the fence', 'Oil the hinge']);
    await count(other, '3 open issues');

    await page.bringToFront();
    expect(await hideAndShow(page)).toEqual([]);
    await shown(page, ['Plant a row', 'Mend the fence', 'Oil the hinge']);
    // It is alive, not a picture of before.
    await add(other, 'Thank the bees');
    await shown(page, ['Thank the bees', 'Plant a row', 'Mend the fence', 'Oil the hinge']);

    await page.reload();
    await shown(page, ['Thank the bees', 'Plant a row', 'Mend the fence', 'Oil the hinge']);
    await profile.quit();
    const again = await profile.open(app);
    await shown(again, ['Thank the bees', 'Plant a row', 'Mend the fence', 'Oil the hinge']);
    await count(again, '4 open issues');
  });

  test(`${app}: says that its store was deleted`, async ({ profile }) => {
    const page = await profile.open(app);
    await add(page, 'Oil the hinge');
    await page.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase('hedgerow/issues');
          request.onsuccess = resolve;
          request.onerror = reject;
        }),
    );
    const words = 'Not up to date: the store issues is closed. Reload the page.';
    await expect(page.getByRole('alert')).toHaveText([words, words]);
    await shown(page, ['Oil the hinge']);
    await page.getByLabel('New issue').fill('Count the wrens');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Not done: the store issues is closed')).toBeVisible();
    await expect(page.getByLabel('New issue')).toHaveValue('Count the wrens');
    await box(page, 'Oil the hinge').click();
    await expect(page.getByText('Not done: the store issues is closed')).toHaveCount(2);
    await expect(box(page, 'Oil the hinge')).not.toBeChecked();
    await page.reload();
    await count(page, 'No open issues');
  });
}

test('a browser without storage: the page says so', async ({ profile }) => {
  const page = await profile.open('react', () => {
    const open = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    Object.defineProperty(window, 'indexedDB', { value: { open } });
  });
  const words = 'The store cannot be opened: the browser denies storage:';
  await expect(page.getByRole('alert')).toContainText(words);
  expect(profile.faults.splice(0)).toEqual([expect.stringContaining('denies storage')]);
});

test('the overview leads to every app, and each shows its glue', async ({ profile }) => {
  const page = await profile.open('index');
  const links = await page
    .getByRole('link')
    .evaluateAll((all) =>
      (all as HTMLAnchorElement[]).map(({ href }) => href.replace(/.*\/(.*)\.html$/, '$1')),
    );
  expect(links).toEqual([...APPS, 'cities']);
  for (const app of links) {
    await page.goto(`${process.env.FRAMEWORKS_URL}${app}.html`);
    const lines = glueOfApp(app);
    await expect(page.locator('footer h2')).toContainText(`${lines.length} lines`);
    await expect(page.locator('footer pre')).toHaveText(lines.join('\n'));
    await expect(page.locator('nav [aria-current=page]')).toHaveAttribute('href', `./${app}.html`);
  }
});

test('the README counts the lines', () => {
  const table = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  for (const app of APPS) {
    const row = table.split('\n').find((line) => line.includes(`src/${app}/`)) ?? '';
    const numbers = row.split('|').map((cell) => cell.trim());
    expect(numbers.slice(2, 4), app).toEqual([
      `${linesOf(app).length}`,
      `${glueOfApp(app).length}`,
    ]);
  }
});
