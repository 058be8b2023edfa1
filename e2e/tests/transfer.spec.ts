/** Stores in IndexedDB are moved to others, also when the page is reloaded in the middle. */
import { expect, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

test('a store is copied to another name, with its branches and its large values', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'source');
  await page.evaluate(async () => {
    await window.db.putMany(window.rows(20_000));
    await window.db.putMany(window.manyBytes(20));
    for (let at = 0; at < 30; at++) await window.db.put(`single/${at}`, { at });
    const branch = await window.db.branches.open('side');
    await branch.put('only/there', 1);
    await branch.close();
  });
  const source = await stateOf(page);
  // A tab with the empty target open follows.
  const other = await visit(await persistentPage.newPage());
  await openStore(other, 'copy');
  const result = await page.evaluate(async () => {
    const { importStore } = window.hedgerow;
    const copy = await window.db.backup.export({ branches: true });
    return importStore('copy', new Response(copy.stream()));
  });
  expect(result).toMatchObject({ root: source.root, rows: source.count, branches: ['side'] });
  await expect.poll(() => other.evaluate(() => window.db.root)).toBe(source.root);
  expect(await stateOf(other)).toEqual(source);
  const found = await other.evaluate(async () => {
    const { ok, segmentFaults } = await window.db.health.verify();
    const branch = await window.db.branches.open('side');
    const value = await branch.get('only/there');
    await window.db.branches.merge('side');
    return { ok, segmentFaults, value, merged: await window.db.get('only/there') };
  });
  expect(found).toEqual({ ok: true, segmentFaults: [], value: 1, merged: 1 });
  // From disk, in another browser process.
  const again = await visit(await persistentPage.relaunch());
  await openStore(again, 'copy');
  expect(await again.evaluate(async () => (await window.db.health.verify()).ok)).toBe(true);
  expect(await again.evaluate(() => window.db.count())).toBe(source.count + 1);
});

test('an import resumes after the page was reloaded in the middle of it', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'source');
  // Rows are packed; bytes fill segments as they are.
  await page.evaluate(() => window.db.putMany([...window.rows(40_000), ...window.manyBytes(40)]));
  const source = await stateOf(page);
  // It gets two thirds of the way, and then waits for ever.
  const stored = await page.evaluate(async () => {
    const copy = await window.db.backup.export();
    const stalled = (async function* () {
      let sent = 0;
      for await (const part of copy) {
        sent += part.length;
        yield part;
        if (sent > copy.bytes * 0.66) await new Promise(() => {});
      }
    })();
    await new Promise<void>((resolve) => {
      window.hedgerow.importStore('copy', stalled, {
        onProgress: ({ fraction }) => fraction > 0.5 && resolve(),
      });
    });
    return window.countRecords('copy', 'segments');
  });
  expect(stored).toBeGreaterThan(2);
  await page.reload();
  await visit(page);
  await openStore(page, 'copy');
  expect(await page.evaluate(() => window.db.count())).toBe(0);
  // Even though a tab had it open, and collected.
  await page.evaluate(async () => {
    await window.db.health.compact();
    await window.db.close();
  });
  await openStore(page, 'source');
  const result = await page.evaluate(async () => {
    const asked: number[] = [];
    const done = await window.hedgerow.importStore('copy', (from) => {
      asked.push(from);
      return window.db.backup.export({ from });
    });
    return { ...done, asked };
  });
  expect(result.root).toBe(source.root);
  // Parts on their way when the page went may have been stored, too.
  expect(result.stats.segmentsBefore).toBeGreaterThanOrEqual(stored);
  expect(result.stats.segments).toBeGreaterThan(0);
  expect(result.asked).toHaveLength(2);
  expect(result.asked[1]).toBeGreaterThan(1 << 20);
  await page.evaluate(() => window.db.close());
  await openStore(page, 'copy');
  expect(await stateOf(page)).toEqual(source);
  expect(await page.evaluate(async () => (await window.db.health.verify()).ok)).toBe(true);
});

test('a damaged export leaves an empty store empty, and does not change a full one', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'source');
  // Two segments: the first of them is sound.
  await page.evaluate(() => window.db.putMany(window.rows(30_000)));
  const found = await page.evaluate(async () => {
    const { importStore, open } = window.hedgerow;
    const copy = await window.db.backup.export();
    const bytes = new Uint8Array(await new Response(copy.stream()).arrayBuffer());
    const at = bytes.length - 100_000;
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 8;
    const refused = [
      await window.codeOf(importStore('copy', new Blob([damaged]))),
      await window.codeOf(importStore('copy', new Blob([bytes.slice(0, at)]))),
      await window.codeOf(importStore('source', new Blob([damaged]))),
      await window.codeOf(importStore('other', [new Uint8Array(1000)])),
    ];
    const empty = await open('copy');
    const before = { count: await empty.count(), root: window.db.root };
    await empty.close();
    const { root, stats } = await importStore('copy', new Blob([bytes]));
    return { refused, before, root, segmentsBefore: stats.segmentsBefore };
  });
  const { root } = found.before;
  expect(found.refused).toEqual(['corrupt-chunk', 'export', 'corrupt-chunk', 'export']);
  expect(found).toMatchObject({ before: { count: 0 }, root });
  expect(found.segmentsBefore).toBeGreaterThan(0);
  expect(
    await page.evaluate(() =>
      window.codeOf(window.hedgerow.open('other', { advanced: { mustExist: true } })),
    ),
  ).toBe('store');
});

test('100,000 rows move, and the time the page waits is printed', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'source');
  const { figures, roots, root } = await page.evaluate(async () => {
    const rows = window.rows(100_000);
    const gapOf = async (work: () => Promise<unknown>) => {
      let [last, longest, isOver] = [performance.now(), 0, false];
      const watch = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (!isOver) setTimeout(watch);
      };
      watch();
      const start = performance.now();
      await work();
      const ms = performance.now() - start;
      isOver = true;
      return { ms, longest };
    };
    const load = await gapOf(() => window.db.putMany(rows));
    const parts: Uint8Array[] = [];
    const out = await gapOf(async () => {
      for await (const part of await window.db.backup.export()) parts.push(part);
    });
    const back = await gapOf(() => window.hedgerow.importStore('copy', parts));
    const both = await gapOf(async () =>
      window.hedgerow.importStore('twice', await window.db.backup.export()),
    );
    const roots: string[] = [];
    for (const name of ['copy', 'twice']) {
      const copy = await window.hedgerow.open(name);
      roots.push(copy.root);
      await copy.close();
    }
    return { figures: { load, out, back, both }, roots, root: window.db.root };
  });
  for (const [name, { ms, longest }] of Object.entries(figures)) {
    const ratio = (ms / figures.load.ms).toFixed(2);
    console.log(
      `${name}: ${ms.toFixed(0)} ms, ${ratio} x the load; longest gap ${longest.toFixed(1)} ms`,
    );
  }
  expect(roots).toEqual([root, root]);
});
