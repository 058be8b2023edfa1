/** A store in a private window works as long as the window is open, and leaves no data after that. */
import { ENGINES } from '../lib/engines/index.mjs';
import { TabContext } from '../lib/engines/tab.mjs';
import { test as base, expect } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

/** Starts the engine with private windows only, on one profile. */
const test = base.extend<{ launch: () => Promise<TabContext> }>({
  launch: async ({ engine, baseURL, profileDir }, use) => {
    const started: TabContext[] = [];
    try {
      await use(async () => {
        const browser = await ENGINES[engine].launch(profileDir, { isPrivate: true });
        const context = new TabContext(browser, String(baseURL));
        started.push(context);
        return context;
      });
    } finally {
      for (const context of started) if (!context.isOver) await context.close();
    }
  },
});

test('a store in a private window works while it is open, and is gone after it', async ({
  launch,
}) => {
  const context = await launch();
  const page = await visit(await context.newPage());
  await openStore(page, 'private');
  await page.evaluate(async () => {
    await window.db.putMany(window.rows(20_000));
    await window.db.putMany(window.manyBytes(20));
    await window.db.deleteMany({ prefix: 'issue/0001' });
    await window.db.health.compact();
    await window.db.put('last', 1);
  });
  const state = await stateOf(page);
  expect(state.count).toBe(20_000 - 100 + 20 + 1);
  expect(await page.evaluate(() => window.db.health.verify())).toMatchObject({ ok: true });

  // Another tab of the window has the same store, and each sees the other's writes.
  const other = await visit(await context.newPage());
  await openStore(other, 'private');
  expect(await stateOf(other)).toEqual(state);
  await other.evaluate(() => window.db.put('from the other', 2));
  await expect.poll(() => page.evaluate(() => window.db.get('from the other'))).toBe(2);

  // It is still there when the page is reloaded.
  await page.reload();
  await page.waitForFunction(() => window.countRecords !== undefined);
  await openStore(page, 'private');
  expect(await page.evaluate(() => window.db.count())).toBe(state.count + 1);
  expect([...(await page.uncaught()), ...(await other.uncaught())]).toEqual([]);
  await context.close();

  const later = await visit(await (await launch()).newPage());
  const code = await later.evaluate(() =>
    window.codeOf(window.hedgerow.open('private', { advanced: { mustExist: true } })),
  );
  expect(code).toBe('store');
});
