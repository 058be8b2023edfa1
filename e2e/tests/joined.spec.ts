/** Joined tables in one record, in real browsers: an idle store makes them, and the next opening reads them. */
import { expect, type Page, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 60_000 };
const NAME = 'joined';

/**
 * Counts the tables in the record that joins them, and hashes the record. Only reads it: a store may be about to
 * replace it.
 */
function joined(page: Page): Promise<{ tables: number; digest: string } | undefined> {
  return page.evaluate(async (name) => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const db = await settled(indexedDB.open(`hedgerow/${name}`));
    const record = await settled(db.transaction('joined').objectStore('joined').get(0));
    db.close();
    if (record === undefined) return undefined;
    const [head, body] = record as [Uint8Array, Blob | Uint8Array];
    const bytes = new Uint8Array(await new Blob([body as BlobPart]).arrayBuffer());
    const digest = await window.digest([
      ['head', head],
      ['body', bytes],
    ]);
    return { tables: (head.length - 8) / 16, digest };
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
  await expect.poll(async () => (await joined(page))?.tables, SLOWLY).toBe(tables);
  const made = await joined(page);
  const state = await stateOf(page);

  // Damaged ones are ignored, and rewritten.
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
  expect(await joined(page)).not.toEqual(made);
  const second = await visit(await persistentPage.relaunch());
  await openStore(second, NAME);
  expect(await stateOf(second)).toEqual(state);
  await expect.poll(() => joined(second), SLOWLY).toEqual(made);

  // Opening reads only the first of the records that they copy.
  await second.evaluate(async (name) => {
    await window.db.close();
    let nth = 0;
    await window.editRecords(name, 'tables', (value) => (nth++ < 16 ? value : new Uint8Array(3)));
  }, NAME);
  const third = await visit(await persistentPage.relaunch());
  await openStore(third, NAME);
  expect(await stateOf(third)).toEqual(state);
});
