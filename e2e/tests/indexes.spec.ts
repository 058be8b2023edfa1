/** Indexes on IndexedDB: over relaunches, made while several tabs write, and with kills during their making. */
import type { IndexDefinitions, IndexProgress } from 'hedgerow';
import { expect, type Page, test } from './fixtures.js';
import { visit } from './store-page.js';

declare global {
  interface Window {
    /** The progress of indexes, as the store has reported it. */
    indexTold: IndexProgress[];
    tellFirst(progress: IndexProgress): Promise<void>;
  }
}

const LABELS: IndexDefinitions = { byLabel: { path: '/labels' } };
const OPEN: IndexDefinitions = { byOpen: { path: ['/open', '/id'], prefix: 'issue/' } };
const ALL: IndexDefinitions = { ...LABELS, ...OPEN };

function open(page: Page, name: string, indexes?: IndexDefinitions, cacheBytes = 64 << 20) {
  return page.evaluate(
    async ([name, indexes, cacheBytes]) => {
      window.indexTold = [];
      const onIndexProgress = (progress: IndexProgress) => void window.indexTold.push(progress);
      const advanced = { cacheBytes, ...(indexes && { onIndexProgress }) };
      window.db = await window.hedgerow.open(name, { indexes, advanced });
    },
    [name, indexes, cacheBytes] as const,
  );
}

/** Checks that each index of a page follows from its rows, and the root too, which has the indexes `all`. */
async function expectRight(page: Page, own: IndexDefinitions, all: IndexDefinitions) {
  const seen = await page.evaluate(
    async ([own, all]) => {
      const { db } = window;
      type Row = { id: number; open: boolean; labels: string[] };
      const entries = await db.scan<Row>().toArray();
      const order = (a: readonly string[], b: readonly string[]) => {
        for (const [at, one] of a.entries()) {
          const other = b[at] ?? '';
          if (one !== other) return one < other ? -1 : 1;
        }
        return 0;
      };
      // Keys and labels are ASCII here, and numbers are padded.
      const byLabel = entries
        .flatMap(([key, { labels }]) => [...new Set(labels)].map((label) => [label, key]))
        .sort(order);
      const byOpen = entries
        .map(([key, { open, id }]) => [String(open), String(id).padStart(9, '0'), key])
        .sort(order);
      const expected: Record<string, (string | undefined)[]> = {
        byLabel: byLabel.map(([, key]) => key),
        byOpen: byOpen.map(([, , key]) => key),
      };
      const wrong: string[] = [];
      const counts: number[] = [];
      for (const index of Object.keys(own)) {
        const keys = await db.scan({ index }).keys().toArray();
        if (keys.join() !== expected[index]?.join()) wrong.push(index);
        if ((await db.count({ index })) !== keys.length) wrong.push(`count of ${index}`);
        counts.push(keys.length);
      }
      const name = `fresh ${Math.random()}`;
      const fresh = await window.hedgerow.open(name, { indexes: all });
      await fresh.putMany(entries);
      const root = fresh.root;
      await fresh.close();
      await window.hedgerow.destroy(name);
      return { wrong, counts, root };
    },
    [own, all] as const,
  );
  expect(seen.wrong).toEqual([]);
  for (const count of seen.counts) expect(count).toBeGreaterThan(0);
  // The work of other tabs arrives a moment later.
  await expect.poll(() => page.evaluate(() => window.db.root)).toBe(seen.root);
}

test('indexes are there after a relaunch', async ({ persistentPage }) => {
  const first = await visit(persistentPage.page);
  await open(first, 'relaunched', ALL);
  const root = await first.evaluate(async () => {
    await window.db.putMany(window.rows(20_000));
    await window.db.put('issue/000007', { id: 7, open: true, labels: ['moved'] });
    await window.db.delete('issue/000008');
    return window.db.root;
  });
  const again = await visit(await persistentPage.relaunch());
  await open(again, 'relaunched', ALL);
  const found = await again.evaluate(async () => ({
    root: window.db.root,
    moved: await window.db.scan({ index: 'byLabel', equals: 'moved', wait: false }).toArray(),
    open: await window.db.count({ index: 'byOpen', equals: true, wait: false }),
  }));
  expect(found).toEqual({
    root,
    moved: [['issue/000007', { id: 7, open: true, labels: ['moved'] }, 'moved']],
    // One in three, and one that was moved.
    open: 6668,
  });
  await expectRight(again, ALL, ALL);
  expect(await again.evaluate(() => window.indexTold)).toEqual([]);
});

test('indexes of two tabs are made while both write', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await open(page, 'beside');
  await page.evaluate(() => window.db.putMany(window.rows(60_000)));
  const first = await visit(await persistentPage.relaunch());
  const second = await visit(await persistentPage.context.newPage());
  await open(first, 'beside', LABELS);
  await open(second, 'beside', OPEN);
  const writing = [first, second].map((tab, at) =>
    tab.evaluate(async (at) => {
      for (let count = 0; count < 40; count++) {
        const id = 100_000 * (at + 1) + count;
        await window.db.put(`issue/${id}`, { id, open: true, labels: ['new'] });
        if (count % 4 === 0) await window.db.delete(`issue/00${1000 * (at + 1) + count}`);
      }
      await window.db.putMany(window.rows(500, 1 + at));
    }, at),
  );
  await Promise.all(writing);
  // The last commits of the other tab arrive a moment later.
  await expect
    .poll(() => first.evaluate(() => window.db.count({ index: 'byLabel', equals: 'new' })))
    .toBe(80);
  await second.evaluate(() => window.db.count({ index: 'byOpen' }));
  // Each sees the other's index.
  for (const tab of [first, second]) {
    await expect
      .poll(() => tab.evaluate(() => window.db.count()))
      .toBe(await first.evaluate(() => window.db.count()));
  }
  await expectRight(first, LABELS, ALL);
  await expectRight(second, OPEN, ALL);
});

test('an index whose making was killed resumes', { tag: '@chromium' }, async ({ chromiumPage }) => {
  const rows = 150_000;
  const page = await visit(chromiumPage.page);
  await open(page, 'killed');
  await page.evaluate((rows) => window.db.putMany(window.rows(rows)), rows);
  await page.evaluate(() => window.db.close());
  // Killed at the first report; then by the end of the whole browser.
  const victim = await visit(await chromiumPage.context.newPage());
  const cdp = await chromiumPage.context.newCDPSession(victim);
  const crashed = new Promise<void>((resolve) => void victim.once('crash', () => resolve()));
  let reached: IndexProgress | undefined;
  await victim.exposeFunction('tellFirst', (progress: IndexProgress) => {
    if (reached !== undefined) return;
    reached = progress;
    // A crashed page does not answer.
    cdp.send('Page.crash').catch(() => {});
  });
  victim
    .evaluate(async (indexes) => {
      const onIndexProgress = (progress: IndexProgress) => void window.tellFirst(progress);
      window.db = await window.hedgerow.open('killed', { indexes, advanced: { onIndexProgress } });
    }, LABELS)
    .catch(() => {});
  await crashed;
  if (reached === undefined) throw new Error('nothing was told');
  expect(reached.total).toBe(rows);
  expect(reached.rows).toBeLessThan(rows);
  const again = await visit(await chromiumPage.relaunch());
  await open(again, 'killed', LABELS);
  await expectRight(again, LABELS, LABELS);
  const told = await again.evaluate(() => window.indexTold);
  // Finished parts stay: it did not begin again with a first part.
  if (told.length > 0) expect(told[0]?.rows).toBeGreaterThan(reached.rows);
  console.log(
    `  killed after ${reached.rows} rows of ${rows}, went on to ${told.map((one) => one.rows).join(', ')}`,
  );
});

test('a scan of an index sees its commit while others write and collect', async ({
  persistentPage,
}) => {
  const reader = await visit(persistentPage.page);
  const writer = await visit(await persistentPage.context.newPage());
  // Its cache holds less than the rows.
  await open(reader, 'collected', ALL, 0);
  await open(writer, 'collected', ALL);
  await writer.evaluate(() => window.db.putMany(window.rows(20_000)));
  await expect.poll(() => reader.evaluate(() => window.db.count())).toBe(20_000);
  const scanning = reader.evaluate(async () => {
    const roots = new Set([window.db.root]);
    const rounds = new Set<unknown>();
    const ids: number[] = [];
    for await (const [, row] of window.db.scan<{ id: number; round: number }>({
      index: 'byOpen',
      equals: true,
    })) {
      rounds.add(row.round);
      ids.push(row.id);
      while (ids.length === 300 && roots.size < 4) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        roots.add(window.db.root);
      }
    }
    const ascends = ids.every((id, at) => at === 0 || id > (ids[at - 1] as number));
    return { rounds: [...rounds], count: ids.length, ascends };
  });
  // A tab in the background may look at its clock only once a second.
  let isRead = false;
  void scanning.then(() => {
    isRead = true;
  });
  for (let round = 1; round < 6 || (!isRead && round < 200); round++) {
    await writer.evaluate(async (round) => {
      await window.db.putMany(window.rows(20_000, round));
      await (window.db as typeof window.db & { compact(): Promise<unknown> }).health.compact();
    }, round);
  }
  expect(await scanning).toEqual({ rounds: [0], count: 6667, ascends: true });
  await expectRight(reader, ALL, ALL);
});

test('transactions of two tabs that count by index run one after the other', {
  tag: '@core',
}, async ({ persistentPage }) => {
  const tabs = [
    await visit(persistentPage.page),
    await visit(await persistentPage.context.newPage()),
  ];
  for (const tab of tabs) await open(tab, 'serial', { byOwner: { path: '/owner' } });
  const [first] = tabs as [Page, Page];
  await first.evaluate(() => window.db.put('start', { owner: 'nobody' }));
  const times = 60;
  const runs = await Promise.all(
    tabs.map((tab) =>
      tab.evaluate(async (times) => {
        let runs = 0;
        for (let at = 0; at < times; at++) {
          await window.db.transaction(async (tx) => {
            runs += 1;
            // Each call names the next by the count of all so far: no name is given twice.
            const range = { index: 'byOwner', equals: 'ann' };
            const count = await tx.count(range);
            // Time for the other tab.
            await new Promise((resolve) => setTimeout(resolve, at % 5));
            tx.put(`row/${String(count).padStart(4, '0')}`, { owner: 'ann' });
            const keys = await tx.scan(range).keys().toArray();
            if (keys.length !== count + 1) throw new Error(`${keys.length} after ${count}`);
          });
        }
        return runs;
      }, times),
    ),
  );
  console.log(`  ${2 * times} transactions in ${runs[0]} and ${runs[1]} runs`);
  for (const tab of tabs) {
    const range = { index: 'byOwner', equals: 'ann' };
    await expect.poll(() => tab.evaluate((range) => window.db.count(range), range)).toBe(2 * times);
  }
});
