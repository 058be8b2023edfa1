/**
 * A page with an open store goes to another document and comes back, in each engine: it reads what another tab has
 * committed, its pins keep rows from collection again, and it is the collector again when it is alone. It comes back
 * out of the back/forward cache where the engine keeps such pages; otherwise it is reloaded.
 */
import { expect, type Page, test } from './fixtures.js';

async function openTab(page: Page): Promise<Page> {
  await page.goto('/cached.html');
  await page.waitForFunction(() => window.cached !== undefined);
  return page;
}

test('a page that comes back reads right, pins again and collects again', async ({
  persistentPage,
  engine,
}) => {
  const a = await openTab(persistentPage.page);
  await a.evaluate(() => window.cached.leave('again', true));
  const b = await openTab(await persistentPage.context.newPage());
  await b.evaluate(() => window.cached.away());
  await b.evaluate(() => window.cached.open('again'));
  // The page that is away holds up no other: the engine has released its locks.
  await expect.poll(() => b.evaluate(() => window.cached.collector())).toBe('this');
  expect(await b.evaluate(() => window.cached.pins())).toBe(0);
  await b.evaluate(async () => {
    const { cached } = window;
    await cached.rewrite(1);
    await cached.rewrite(2);
    await cached.store.health.compact();
    await cached.store.put('told/row', 'while it was away');
  });
  const found = await b.evaluate(() => window.cached.back());
  console.log(`${engine}: ${found.persisted ? 'out of the cache' : `loaded anew ${found.why}`}`);
  await a.waitForFunction(() => window.cached !== undefined);
  if (found.persisted) {
    expect(found).toMatchObject({
      memory: 'memory of again',
      read: 'while it was away',
      collector: 'other',
    });
    expect(await b.evaluate(() => window.cached.store.get('mine'))).toBe('came back');
    // No lock pinned its snapshot while it was away: it is whole, or reported as missing.
    expect([JSON.stringify({ rounds: [0], rows: 2000 }), 'missing-chunk']).toContain(
      await a.evaluate(() =>
        window.cached.held().then(JSON.stringify, (e) => String(e.detail ?? e.code)),
      ),
    );
  } else {
    expect(await a.evaluate(() => window.cached.open('again'))).toBe('other');
    expect(await a.evaluate(() => window.cached.store.get('told/row'))).toBe('while it was away');
  }

  // The other tab does not collect what it pins, and it sees commits of the other.
  await a.evaluate(() => window.cached.hold());
  await expect.poll(() => b.evaluate(() => window.cached.pins())).toBeGreaterThan(0);
  await b.evaluate(async () => {
    const { cached } = window;
    for (const round of [3, 4, 5]) {
      await cached.rewrite(round);
      await cached.store.health.compact();
    }
    await cached.store.put('later', 'seen');
  });
  await expect.poll(() => a.evaluate(() => window.cached.store.get('later'))).toBe('seen');
  expect(await a.evaluate(() => window.cached.held())).toEqual({ rounds: [2], rows: 2000 });
  expect(await b.evaluate(() => window.cached.store.health.verify())).toMatchObject({ ok: true });

  // It collects when it is alone.
  await b.evaluate(() => window.cached.store.close());
  await expect.poll(() => a.evaluate(() => window.cached.collector())).toBe('this');
  await a.evaluate(() => window.cached.store.health.compact());
  expect(await a.evaluate(() => window.cached.held())).toEqual({ rounds: [2], rows: 2000 });
});
