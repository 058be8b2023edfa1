/** Tables that are joined to one record, in real browsers: a store that rests makes them, and the next opening reads them. */
import { expect, type Page, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

/** A machine that is busy with other things must not fail a test. */
const SLOWLY = { timeout: 60_000 };
const NAME = 'joined';

/** How many tables the record has that joins them; 0 without it. */
function joinedTables(page: Page): Promise<number> {
  return page.evaluate(async (name) => {
    let count = 0;
    await window.editRecords(name, 'joined', (value) => {
      const [head] = value as [Uint8Array];
      count = (head.length - 8) / 16;
      return value;
    });
    return count;
  }, NAME);
}

test('joined tables are made at rest, and read in place of their own records', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, NAME);
  await page.evaluate(() => window.db.putMany(window.manyBytes(150)));
  const tables = await page.evaluate((name) => window.countRecords(name, 'tables'), NAME);
  expect(tables).toBeGreaterThan(20);
  await expect.poll(() => joinedTables(page), SLOWLY).toBe(tables);
  const state = await stateOf(page);

  // Damaged ones are left aside, and made anew.
  await page.evaluate(async (name) => {
    await window.db.close();
    await window.editRecords(name, 'joined', async (value) => {
      const [head, body] = value as [Uint8Array, Blob | Uint8Array];
      const bytes = new Uint8Array(await new Blob([body as BlobPart]).arrayBuffer());
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      return [head, body instanceof Blob ? new Blob([bytes]) : bytes];
    });
  }, NAME);
  const second = await visit(await persistentPage.relaunch());
  await openStore(second, NAME);
  expect(await stateOf(second)).toEqual(state);
  await expect.poll(() => joinedTables(second), SLOWLY).toBe(tables);

  // Nobody reads the records that they copy, but for the first.
  await second.evaluate(async (name) => {
    await window.db.close();
    let nth = 0;
    await window.editRecords(name, 'tables', (value) => (nth++ < 16 ? value : new Uint8Array(3)));
  }, NAME);
  const third = await visit(await persistentPage.relaunch());
  await openStore(third, NAME);
  expect(await stateOf(third)).toEqual(state);
});
