/** The inspector in every engine: what it shows of a store, what it changes, its keys, and what a trace shows in it. */
import type { Tab } from '../lib/engines/tab.mjs';
import { expect, test } from './fixtures.js';
import { Inspector } from './inspector-page.js';
import { madeIn, rootOf } from './inspector-parts.js';

/** Uncaught errors; Playwright reports Chromium's in another way. */
test.afterEach(async ({ persistentPage }) => {
  for (const page of persistentPage.context.pages()) {
    if ('uncaught' in page) expect(await (page as Tab).uncaught()).toEqual([]);
  }
});

test('a store is found, searched, edited, compared, measured and verified', async ({
  persistentPage,
}) => {
  const { page: app, context } = persistentPage;
  const href = await madeIn(app);
  const root = await rootOf(app);
  const page = await context.newPage();
  await page.goto(href);
  const inspector = new Inspector(page);
  await inspector.shows('tbody tr', /inspected2,001.*main, draft/);
  await inspector.click('button.link', 'inspected');
  await inspector.shows('.rows output', '2,001 rows');

  await inspector.fill('[type=search]', 'issue/0012');
  await inspector.shows('.rows output', '100 rows');
  await inspector.choose('.rows select', 'state');
  await inspector.fill('[type=search]', '["done", 8]');
  await inspector.shows('.rows output', '2 entries');
  await inspector.shows('[role=option]', '["done",8]');
  expect(await rootOf(app)).toBe(root);

  // The app sees an edit, and the inspector sees the app's writes.
  await inspector.choose('.rows select', 'by key');
  await inspector.fill('[type=search]', 'issue/001501');
  await inspector.shows('.rows output', /^1 row$/);
  await inspector.key('[role=listbox]', 'Home');
  await inspector.shows('.value pre', '"Mend gate 1501"');
  await inspector.key('[role=listbox]', 'Enter');
  await inspector.fill('.value textarea', '{ "state": "strange" ');
  await inspector.click('.value button', 'Save');
  await inspector.shows('[role=alert]', 'not JSON');
  await inspector.fill('.value textarea', '{ "state": "strange", "n": 1 }');
  await inspector.click('.value button', 'Save');
  await inspector.shows('.message', 'is stored');
  const strange = () =>
    app.evaluate(() =>
      window.inspectedStore.scan({ index: 'byState', equals: 'strange' }).keys().toArray(),
    );
  await expect.poll(strange).toEqual(['issue/001501']);
  await app.evaluate(() => window.inspectedStore.put('issue/001501', 'from the app'));
  await inspector.shows('.value pre', '"from the app"');
  await inspector.key('[role=listbox]', 'Delete');
  await inspector.click('dialog button', 'Delete');
  await expect.poll(() => app.evaluate(() => window.inspectedStore.count())).toBe(2000);

  await inspector.tab('Branches');
  await inspector.click('button', 'Changes of draft');
  await inspector.shows('main', '1 added, 1 changed, 1 deleted');
  await inspector.tab('Storage');
  await inspector.shows('.facts', /Health(best-effort|persistent)/);
  // A collection may come in between.
  await expect(async () => {
    await inspector.click('button', 'Measure');
    await inspector.shows('main', 'are reached by a branch or a fork');
    const segments = await app.evaluate(
      async () => (await window.inspectedStore.health.stats()).segments,
    );
    expect(await inspector.count('.segment')).toBe(segments);
  }).toPass({ timeout: 60_000 });
  // The panel scrolls, and not the page.
  const tooHigh = () => {
    const { scrollHeight, clientHeight } = document.documentElement;
    return scrollHeight - clientHeight;
  };
  expect(await page.evaluate(tooHigh)).toBe(0);
  await inspector.tab('Tabs');
  await inspector.shows('main', '2 tabs and workers');
  await inspector.tab('Verify');
  await inspector.click('.tools button', 'Verify');
  await inspector.shows('main', 'No fault.');
});

test('a file of a store is opened, and cannot be edited; a store is opened by its name', async ({
  persistentPage,
}) => {
  const { page: app, context } = persistentPage;
  const href = await madeIn(app);
  const copy = await app.evaluate(async () => {
    const exported = await window.inspectedStore.backup.export({ branches: true });
    return new Uint8Array(await new Response(exported.stream()).arrayBuffer());
  });
  const page = await context.newPage();
  await page.goto(href);
  const inspector = new Inspector(page);
  await inspector.file(copy);
  await inspector.shows('h1', 'a file, read only');
  await inspector.shows('.rows output', '2,001 rows');
  await inspector.choose('header select', 'draft');
  await inspector.shows('header option[selected]', 'draft');
  await inspector.fill('[type=search]', 'note');
  await inspector.shows('.rows output', /^1 row$/);
  await inspector.key('[role=listbox]', 'Home');
  await inspector.shows('.value pre', '"a draft"');
  await inspector.counts(0, 'button', 'Edit');
  await inspector.counts(0, 'button', 'New row');
  // As Firefox before 126 has it.
  await page.evaluate(() => {
    Object.defineProperty(IDBFactory.prototype, 'databases', { value: undefined });
  });
  await inspector.click('header button', 'All stores');
  await inspector.shows('main', 'does not list databases');
  await inspector.fill('#store-name', 'inspected');
  await inspector.click('main form button', 'Open');
  await inspector.shows('h1', /^inspected$/);
  await inspector.shows('.rows output', '2,001 rows');
});

test('a trace in the app shows calls, slices and watches in a corner of its page', async ({
  persistentPage,
}) => {
  const { page: app } = persistentPage;
  await madeIn(app);
  await app.evaluate(() => {
    window.inspected.trace(window.inspectedStore);
    window.inspectedStore.watch({ prefix: 'more/' }, () => {});
  });
  await app.evaluate(() => document.getElementById('corner')?.click());
  const inspector = new Inspector(app);
  await inspector.shows('.rows output', '2,001 rows');
  await inspector.tab('Time');
  await inspector.shows('main', 'The page traces inspected.');
  await inspector.shows('[aria-label=Watches] tbody', /^\{"prefix":"more\/"\}inspectedmain00/);
  await app.evaluate(() =>
    window.inspectedStore.putMany(
      Array.from({ length: 20_000 }, (_, n) => [`more/${String(n).padStart(6, '0')}`, { n }]),
    ),
  );
  await inspector.shows('[aria-label=Watches] tbody', /main120,000/);
  await inspector.shows('[aria-label=Entries]', 'putManycall');
  await inspector.shows('main', /\d+ slices, the longest of \d/);
  await inspector.counts(1, '.flame.call[title^=putMany]');
  await inspector.click('header button', 'Close');
  await expect.poll(() => app.evaluate(() => document.querySelector('iframe'))).toBeNull();
});
