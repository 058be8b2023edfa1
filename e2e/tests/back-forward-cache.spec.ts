/**
 * A page with an open store enters Chromium's back/forward cache, holds up no other page there, and comes back right:
 * it reads the rows of others, hears of them, writes, and collects when it is alone.
 */
import { expect } from '@playwright/test';
import { test } from './plain-tabs.js';

test('a page enters the back/forward cache and comes back right', { tag: '@chromium' }, async ({
  tab,
}) => {
  const a = await tab('cached', 'cached');
  const session = await a.context().newCDPSession(a);
  // The browser's reason, if it is not in the cache.
  session.on('Page.backForwardCacheNotUsed', (told) =>
    console.log(JSON.stringify(told.notRestoredExplanations)),
  );
  await session.send('Page.enable');
  await a.evaluate(() => window.cached.leave('cached'));
  const b = await tab('cached', 'cached');
  await b.evaluate(() => window.cached.away());
  // It has given up the role of the collector.
  expect(await b.evaluate(() => window.cached.open('cached'))).toBe('this');
  await b.evaluate(() => window.cached.store.put('told/row', 'while it was away'));
  const found = await b.evaluate(() => window.cached.back());
  expect(found).toEqual({
    persisted: true,
    why: '',
    memory: 'memory of cached',
    read: 'while it was away',
    collector: 'other',
  });
  expect(await b.evaluate(() => window.cached.store.get('mine'))).toBe('came back');
  await b.evaluate(() => window.cached.store.close());
  await b.evaluate(() => window.cached.until(() => window.cached.found().collector === 'this'));
  expect((await b.evaluate(() => window.cached.found())).collector).toBe('this');
});

test('a store can be deleted while a page that has it open is in the cache', {
  tag: ['@chromium', '@timed'],
}, async ({ tab }) => {
  const a = await tab('cached', 'cached');
  await a.evaluate(() => window.cached.leave('deleted'));
  const b = await tab('cached', 'cached');
  await b.evaluate(() => window.cached.away());
  const ms = await b.evaluate(() => window.cached.deleted('deleted'));
  expect(ms).toBeLessThan(2000);
});
