// Checks the app of the quick start in Chromium: two of its tabs, used by one person.

import { findBrowser } from './browser.mjs';
import { CommandFailed } from './run.mjs';

const PATIENCE_MS = 30_000;

/** Collects the faults of tabs: uncaught errors, and errors on the console. */
function listen(tab, faults) {
  tab.on('pageerror', (error) => faults.push(String(error)));
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
}

/** Returns the titles that a tab shows, once there is a list. */
const titlesOf = (tab) =>
  tab.evaluate(() => {
    if (document.querySelector('form + ul') === null) return 'no list';
    return [...document.querySelectorAll('li')].map((item) => item.firstChild.textContent.trim());
  });

/** Waits until the list of a tab is this; returns the reason if it never is. */
async function shows(tab, expected, what, faults) {
  const end = performance.now() + PATIENCE_MS;
  let shown;
  for (;;) {
    // A development server may load the page again while it finds packages.
    shown = await titlesOf(tab).catch((error) => error.message);
    if (JSON.stringify(shown) === JSON.stringify(expected)) return;
    if (performance.now() > end) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const told = `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(shown)}`;
  throw new CommandFailed(`${told}; the console: ${faults.join(' | ') || 'nothing'}`);
}

/**
 * Opens `url` in two tabs of a new profile, and checks that both show `rows`, which `edit`, if given, brings into an
 * empty list; that a row added in one tab appears in the other, and one closed there disappears here; and that a reload
 * changes no row. Returns the milliseconds until the first list, and the number of files that the first tab has fetched
 * for it.
 */
export async function tryInTwoTabs(url, rows, edit) {
  const { chromium } = await import('playwright-core');
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new CommandFailed('no Chromium: set CHROMIUM_PATH');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const faults = [];
  try {
    const context = await browser.newContext();
    const [one, other] = [await context.newPage(), await context.newPage()];
    for (const tab of [one, other]) listen(tab, faults);
    const began = performance.now();
    await one.goto(url);
    await shows(one, edit === undefined ? rows : [], 'the first tab', faults);
    const first = performance.now() - began;
    const requests = await one.evaluate(
      () =>
        performance.getEntriesByType('resource').filter(({ name }) => !/^data:/.test(name)).length,
    );
    if (edit !== undefined) {
      await edit();
      await shows(one, rows, 'the first tab, after its source was edited', faults);
    }
    await other.goto(url);
    await shows(other, rows, 'the second tab', faults);

    const add = async (tab, title) => {
      await tab.getByRole('textbox', { name: 'New issue' }).fill(title);
      await tab.keyboard.press('Enter');
    };
    await add(one, 'Oil the hinge');
    await shows(other, ['Oil the hinge', ...rows], 'the second tab, after the first added', faults);
    await shows(one, ['Oil the hinge', ...rows], 'the first tab, after it added', faults);
    await add(other, 'Mow the lawn');
    const four = ['Mow the lawn', 'Oil the hinge', ...rows];
    await shows(one, four, 'the first tab, after the second added', faults);
    const field = await one.getByRole('textbox', { name: 'New issue' }).inputValue();
    if (field !== '') throw new CommandFailed(`the field still has ${field}`);
    await other.getByRole('listitem').nth(1).getByRole('button', { name: 'Close' }).click();
    const left = ['Mow the lawn', ...rows];
    await shows(one, left, 'the first tab, after the second closed an issue', faults);
    await one.reload();
    await shows(one, left, 'the first tab, after a reload', faults);
    if (faults.length > 0) throw new CommandFailed(`the console: ${faults.join(' | ')}`);
    return { first, requests };
  } finally {
    await browser.close();
  }
}
