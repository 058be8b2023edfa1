/** Tables in a browser: two versions of an app in two tabs, a migration, live queries, and values that JSON lacks. */
import { expect, type Page, test } from './fixtures.js';

const ROWS = 20_000;
/** A busy machine must not fail a test. */
const SLOWLY = { timeout: 60_000 };

async function visit<P extends Page>(page: P): Promise<P> {
  await page.goto('/tables.html');
  await page.waitForFunction(() => window.app !== undefined);
  return page;
}

test('a new version of an app migrates rows while an old one is open', {
  tag: '@core',
}, async ({ persistentPage }) => {
  const old = await visit(persistentPage.page);
  await old.evaluate(async (rows) => {
    window.oldApp = await window.app.old('versions');
    await window.oldApp.load(rows);
  }, ROWS);
  const fresh = await visit(await persistentPage.newPage());
  await fresh.evaluate(async () => {
    window.newApp = await window.app.fresh('versions');
  });
  // Right at once, in either stored version.
  expect(await fresh.evaluate(() => window.newApp.isRight(12_345))).toBe(true);
  // By an index once all rows are migrated.
  const mine = await fresh.evaluate(() => window.newApp.mine('u3'));
  expect(mine).toHaveLength(ROWS / 10);
  expect(mine.slice(0, 2)).toEqual(['i019993', 'i019983']);
  expect(await fresh.evaluate(() => window.newApp.words('19993 mend'))).toBe(1);
  // The old tab hears of it, goes on writing, and cannot misread newer rows.
  await expect.poll(() => old.evaluate(() => window.oldApp.outdated), SLOWLY).toEqual([2]);
  const code = await old.evaluate(() =>
    window.oldApp.db.issues.get('i000007').catch((error) => error.detail ?? error.code),
  );
  expect(code).toBe('schema');
  await old.evaluate(() => window.oldApp.put(7));
  await expect
    .poll(() => fresh.evaluate(() => window.newApp.mine('old')), SLOWLY)
    .toEqual(['i000007']);
  const { remaining, failed } = await fresh.evaluate(() => window.newApp.db.issues.migration());
  expect([remaining, failed]).toEqual([0, []]);
});

test('a live window follows another tab, and no other change calls it', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await page.evaluate(async () => {
    const old = await window.app.old('live');
    await old.load(1000);
    await old.db.close();
    window.newApp = await window.app.fresh('live');
    window.list = window.newApp.newest(10);
  });
  const shown = () => page.evaluate(() => window.list.shown.get().rows.map(({ id }) => id));
  await expect.poll(async () => (await shown()).length, SLOWLY).toBe(10);
  expect((await shown())[0]).toBe('i000991');
  const other = await visit(await persistentPage.newPage());
  const called = await page.evaluate(() => {
    window.firstRow = window.list.shown.get().rows[0];
    return window.list.states.length;
  });
  await other.evaluate(async () => {
    window.newApp = await window.app.fresh('live');
    await window.newApp.db.issues.update('i000992', { title: 'Not shown' });
    await window.newApp.db.issues.update('i000011', { title: 'Far below' });
    await window.newApp.db.issues.update('i000981', { owner: 'u9' });
  });
  await expect.poll(shown, SLOWLY).not.toContain('i000981');
  expect(await shown()).toHaveLength(10);
  // One change touched the window: it was called once, and other rows kept their identity.
  expect(await page.evaluate(() => window.list.states.length)).toBe(called + 1);
  const isKept = await page.evaluate(() => window.firstRow === window.list.shown.get().rows[0]);
  expect(isKept).toBe(true);
});

test('a file is kept with its name and type', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  const photo = await page.evaluate(() => window.app.photo('files'));
  expect(photo).toBe('gate.txt text/plain a gate');
});
