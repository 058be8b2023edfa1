/** Imports of databases that Dexie and localForage have written in a browser. */
import { expect, type Page, test } from './fixtures.js';

/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 100_000 };
const ROWS = 20_000;

async function visit<P extends Page>(page: P): Promise<P> {
  await page.goto('/import.html');
  await page.waitForFunction(() => window.importing !== undefined);
  return page;
}

/** Waits for the import of a page, and returns its outcome. */
async function outcomeOf(page: Page) {
  await expect.poll(() => page.evaluate(() => window.outcome !== undefined), SLOWLY).toBe(true);
  const outcome = await page.evaluate(() => window.outcome);
  if (outcome === undefined || 'error' in outcome) throw new Error(outcome?.error);
  return outcome;
}

test('an import that a reload cuts off resumes', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await page.evaluate((rows) => window.importing.write('cut-off', rows), ROWS);
  let furthest = 0;
  // Cut off while it reads, and while it verifies.
  for (const phase of ['reading', 'verifying']) {
    await page.evaluate(() => window.importing.begin('cut-off'));
    const isThere = (wanted: string) => window.progress.some((one) => one.phase === wanted);
    await expect.poll(() => page.evaluate(isThere, phase), SLOWLY).toBe(true);
    await visit(page);
    // The store shows no row before its end.
    const before = await page.evaluate(async () => {
      const db = await window.importing.open();
      const count = await db.issues.count();
      await db.close();
      return count;
    });
    if (before > 0) furthest = before;
  }
  await page.evaluate(() => window.importing.begin('cut-off'));
  const { result } = await outcomeOf(page);
  // On a slow machine the rows may be there before the page is reloaded, and so may the note that the import is done.
  const ends = furthest > 0 ? ['already', 'imported'] : ['imported'];
  expect(ends).toContain(result.status);
  expect(result.rows).toBe(ROWS);
  expect(result).toMatchObject({ refused: 0, verified: true });
  const found = await page.evaluate(() => window.importing.compare('cut-off'));
  expect(found).toMatchObject({ rows: ROWS, before: ROWS, wrong: 0 });
  expect(found.open).toBe(found.kept);
});

test('of two tabs one imports; the other hears of its progress and its end', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await page.evaluate((rows) => window.importing.write('two-tabs', rows), ROWS);
  const other = await visit(await persistentPage.newPage());
  await page.evaluate(() => window.importing.begin('two-tabs'));
  await expect.poll(() => page.evaluate(() => window.progress.length > 0), SLOWLY).toBe(true);
  await other.evaluate(() => window.importing.begin('two-tabs'));
  const results = [(await outcomeOf(page)).result, (await outcomeOf(other)).result];
  expect(results.map(({ status }) => status)).toEqual(['imported', 'already']);
  expect(results.map(({ rows, verified }) => [rows, verified])).toEqual([
    [ROWS, true],
    [ROWS, true],
  ]);
  const found = await other.evaluate(() => window.importing.compare('two-tabs'));
  expect(found).toMatchObject({ rows: ROWS, wrong: 0 });
});

test('an old app that is open goes on writing, and its writes are imported, too', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await page.evaluate((rows) => window.importing.write('in-use', rows), ROWS);
  const old = await visit(await persistentPage.newPage());
  await old.evaluate(async () => {
    window.oldDexie = await window.importing.openOld('in-use');
  });
  await page.evaluate(() => window.importing.begin('in-use'));
  await expect.poll(() => page.evaluate(() => window.progress.length > 0), SLOWLY).toBe(true);
  await old.evaluate(async () => {
    await window.oldDexie.table('issues').update('i000000', { title: 'Written meanwhile' });
    await window.oldDexie.table('issues').delete('i000001');
  });
  await outcomeOf(page);
  // Later writes come with the next import.
  await page.evaluate(() => window.importing.begin('in-use', { again: true }));
  const { result } = await outcomeOf(page);
  expect(result).toMatchObject({ status: 'imported', rows: ROWS - 1, verified: true });
  const found = await page.evaluate(() => window.importing.compare('in-use'));
  expect(found).toMatchObject({ rows: ROWS - 1, before: ROWS - 1, wrong: 0 });
  expect(await old.evaluate(() => window.oldDexie.verno)).toBe(2);
});

test('importing a missing database does not make it', async ({ persistentPage, engine }) => {
  const page = await visit(persistentPage.page);
  expect(await page.evaluate(() => window.importing.absent('nobody'))).toBe('absent');
  const isThere = async () =>
    (await page.evaluate(() => window.importing.databases())).includes('nobody');
  expect(await isThere()).toBe(false);
  // Where databases cannot be listed, either, as in Firefox before 126. WebKit, which can, would keep an empty one.
  const status = await page.evaluate(async () => {
    const { databases } = IDBFactory.prototype;
    Object.defineProperty(IDBFactory.prototype, 'databases', {
      value: undefined,
      configurable: true,
    });
    try {
      return await window.importing.absent('nobody');
    } finally {
      Object.defineProperty(IDBFactory.prototype, 'databases', {
        value: databases,
        configurable: true,
      });
    }
  });
  expect(status).toBe('absent');
  if (engine !== 'webkit') expect(await isThere()).toBe(false);
});

test('values of all kinds that Dexie and localForage keep', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  expect(await page.evaluate(() => window.importing.values('values'))).toEqual({
    forage: [3, true],
    settings: { theme: 'dark', nothing: null },
    blob: 'a blob',
    bytes: [1, 2, 255],
    photos: [1, true],
    photo: [5, 'gate.txt', 'text/plain', 'a gate'],
  });
});

test('100,000 rows, and how long the page waits for the import @timed', async ({
  persistentPage,
}) => {
  const rows = 100_000;
  const page = await visit(persistentPage.page);
  await page.evaluate((count) => window.importing.write('many', count), rows);
  await page.evaluate(() => window.importing.begin('many'));
  const { result, ms, gaps } = await outcomeOf(page);
  expect(result).toMatchObject({ status: 'imported', rows, verified: true });
  const perSecond = Math.round(rows / (ms / 1000)).toLocaleString('en');
  console.log(
    `${rows.toLocaleString('en')} rows from Dexie: ${Math.round(ms)} ms with the check, ` +
      `${perSecond} rows a second; longest gaps between frames, ms: ${JSON.stringify(gaps)}`,
  );
  const found = await page.evaluate(() => window.importing.compare('many'));
  expect(found).toMatchObject({ rows, wrong: 0 });
});
