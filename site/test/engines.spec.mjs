// The benchmark and the playground in Firefox and WebKitGTK, as far as this machine has them: a few rows, and all
// examples.

import { mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { ENGINES, installed } from '../../e2e/lib/engines/index.mjs';
import { TabContext } from '../../e2e/lib/engines/tab.mjs';

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));
const ROWS = 1200;
const NAMES = ['hedgerow', 'dexie', 'dexie-batches', 'indexeddb', 'indexeddb-each'];

/** Presses a button by its text; in the page. */
const press = (text) => {
  const found = [...document.querySelectorAll('button')].find(
    (button) => button.textContent.trim() === text && !button.disabled,
  );
  found?.click();
  return found !== undefined;
};

/** Passes a page of the engine to `use`; fails for each uncaught error. */
async function inPage(engine, use) {
  const profile = await mkdtemp(`${CACHE}site-${engine.name}-`);
  const context = new TabContext(await engine.launch(profile), `${process.env.SITE_URL}/`);
  try {
    const page = await context.newPage();
    await use(page);
    expect(await page.uncaught()).toEqual([]);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

for (const engine of installed([ENGINES.firefox, ENGINES.webkit])) {
  test(`${engine.name}: the benchmark shows every figure, and leaves no data`, async () => {
    await inPage(engine, async (page) => {
      await page.goto(`benchmark.html?rows=${ROWS}`);
      await page.waitForFunction(press, 'Run it here');
      await page.waitForFunction(
        () => document.querySelector('.bench-result') !== null,
        undefined,
        {
          timeout: 100_000,
        },
      );
      const hash = await page.evaluate(() => location.hash);
      const report = JSON.parse(Buffer.from(hash.slice('#result='.length), 'base64url').toString());
      expect(report.figures.map(({ id }) => id)).toEqual(NAMES);
      for (const { id, rows, failed, loadMs, gapMs } of report.figures) {
        expect(failed, id).toBeUndefined();
        // On a slow machine a transaction for each row comes to its limit of time.
        const isCut = id === 'indexeddb-each' && rows > 0 && rows < ROWS;
        expect(isCut ? ROWS : rows, id).toBe(ROWS);
        for (const figure of [loadMs, gapMs]) expect(figure, id).toBeGreaterThan(0);
      }
      const left = async () => (await indexedDB.databases()).map(({ name }) => name);
      expect(await page.evaluate(left)).toEqual([]);
    });
  });

  test(`${engine.name}: every example of the playground runs, and is drawn`, async () => {
    await inPage(engine, async (page) => {
      await page.goto('playground.html');
      await page.waitForFunction(
        () => document.querySelector('.play')?.getAttribute('aria-busy') === 'false',
      );
      const names = await page.evaluate(() =>
        [...document.querySelector('.play select').options].map(({ value }) => value),
      );
      const ends = {};
      for (const name of names) {
        await page.evaluate((name) => {
          const field = document.querySelector('.play select');
          field.value = name;
          field.dispatchEvent(new Event('change', { bubbles: true }));
        }, name);
        expect(await page.evaluate(press, 'Run')).toBe(true);
        ends[name] = await page.waitForFunction(() => {
          const isDone = document.querySelector('.play-said').textContent.startsWith('Done in');
          const failed = document.querySelector('.play-failure strong')?.textContent;
          return isDone ? 'done' : failed;
        });
        await page.waitForFunction(() => document.querySelector('.play-tree path') !== null);
      }
      const expected = Object.fromEntries(names.map((name) => [name, 'done']));
      expect(ends).toEqual({ ...expected, proof: 'invalid-data/proof', error: 'exists' });
    });
  });
}
