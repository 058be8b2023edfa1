/** A store in a worker: the same rows, the same root, and slices there, too. */
import { expect, test } from './fixtures.js';

const ROWS = 50_000;

test('a worker loads and reads a store, and its page finds the same one', { tag: '@core' }, async ({
  persistentPage: { page },
}) => {
  await page.goto('/worker.html');
  await page.waitForFunction(() => window.inWorker !== undefined);
  const worker = await page.evaluate((rows) => window.inWorker('of a worker', rows), ROWS);
  expect(worker.rows).toBe(ROWS);
  expect(worker.slices).toBeGreaterThan(1);
  const { root, rows } = await page.evaluate(() => window.inPage('of a worker'));
  expect({ root, rows }).toEqual({ root: worker.root, rows: ROWS });
});
