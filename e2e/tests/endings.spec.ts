/** Calls, watches and stores that end in tabs of a real browser, and tabs with other definitions. */
import { expect, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

declare global {
  interface Window {
    /** The codes that watches of a page have ended with. */
    ends: unknown[];
    /** How often a store was reported as missing. */
    missed: number;
  }
}

for (const by of ['raw', 'destroy', 'another tab'] as const) {
  test(`a store that was deleted (${by}) takes no reads, though all is in memory`, async ({
    persistentPage,
  }) => {
    const page = await visit(persistentPage.page);
    await page.evaluate(async () => {
      window.ends = [];
      window.missed = 0;
      window.db = await window.hedgerow.open('ended', {
        advanced: { onDeleted: () => window.missed++ },
      });
      await window.db.putMany(window.rows(2000));
      window.db.watch({}, () => {}, {
        initial: true,
        onError: (error) =>
          window.ends.push(
            (({ code, detail = code }) => detail)(error as { code: string; detail?: string }),
          ),
      });
      await window.db.scan().toArray();
    });
    const deleter = by === 'another tab' ? await visit(await persistentPage.newPage()) : page;
    await deleter.evaluate((by) => {
      if (by !== 'raw') return window.hedgerow.destroy('ended');
      return new Promise<void>((resolve, reject) => {
        const request = indexedDB.deleteDatabase('hedgerow/ended');
        request.onsuccess = () => resolve();
        request.onerror = () => reject(request.error);
      });
    }, by);
    await expect.poll(() => page.evaluate(() => window.missed)).toBe(1);
    const codes = await page.evaluate(() => {
      const { db } = window;
      return Promise.all(
        [
          db.get('issue/000001'),
          db.count(),
          db.scan().toArray(),
          db.put('b', 1),
          db.branches.list(),
          (async () => db.snapshot())(),
        ].map(window.codeOf),
      );
    });
    expect(codes).toEqual(Array(6).fill('closed'));
    expect(await page.evaluate(() => [window.ends, window.missed])).toEqual([['closed'], 1]);
  });
}

test('a branch that another tab deletes ends only its own watches', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'branched');
  await page.evaluate(async () => {
    window.ends = [];
    await window.db.putMany(window.rows(100));
    const draft = await window.db.branches.open('draft');
    for (const [name, db] of [
      ['main', window.db],
      ['draft', draft],
    ] as const) {
      const onError = (error: unknown) =>
        window.ends.push([
          name,
          (({ code, detail = code }) => detail)(error as { code: string; detail?: string }),
        ]);
      db.watch({}, () => {}, { onError });
      db.watch({}, () => {}, { initial: true, onError });
    }
  });
  const other = await visit(await persistentPage.newPage());
  await openStore(other, 'branched');
  await other.evaluate(() => window.db.branches.delete('draft'));
  await expect
    .poll(() => page.evaluate(() => window.ends))
    .toEqual([
      ['draft', 'branch'],
      ['draft', 'branch'],
    ]);
  await other.evaluate(() => window.db.put('later', 1));
  await expect.poll(() => page.evaluate(() => window.db.get('later'))).toBe(1);
  expect(await page.evaluate(() => window.ends.length)).toBe(2);
});

test('signals and closing end calls whose code never answers', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'never');
  const found = await page.evaluate(async () => {
    const { db } = window;
    await db.put('a', 1);
    const draft = await db.branches.open('draft');
    await draft.put('a', 'draft');
    await db.put('a', 'main');
    const { root } = db;
    const never = () => new Promise<never>(() => {});
    const calls = (signal?: AbortSignal) => [
      db.transaction(never, { signal }),
      db.branches.merge('draft', { onConflict: never, signal }),
      db.putMany(new ReadableStream({ pull: never }), { signal }),
    ];
    const codes: unknown[] = [];
    for (const turns of [0, 1, 5]) {
      const abort = new AbortController();
      const under = calls(abort.signal).map(window.codeOf);
      for (let at = 0; at < turns; at++) await new Promise((resolve) => setTimeout(resolve));
      abort.abort();
      codes.push(...(await Promise.all(under)));
    }
    const isSame = db.root === root && (await db.get('a')) === 'main';
    const under = calls().map(window.codeOf);
    await db.close();
    return { codes, isSame, closed: await Promise.all(under) };
  });
  expect(found.codes).toEqual(Array(9).fill('aborted'));
  expect(found.isSame).toBe(true);
  expect(found.closed).toEqual(Array(3).fill('closed'));
});

test('tabs with two versions of an app each have the indexes and sums that they name', async ({
  persistentPage,
}) => {
  const tabs = [
    await visit(persistentPage.page),
    await visit(await persistentPage.context.newPage()),
  ];
  const names = ['id', 'round'] as const;
  for (const [at, tab] of tabs.entries()) {
    await tab.evaluate(async (name) => {
      window.db = await window.hedgerow.open('versions', {
        indexes: { [name]: { path: `/${name}` } },
        advanced: { sums: { [name]: { prefix: 'issue/', sum: `/${name}` } } },
      });
      if (name === 'id') await window.db.putMany(window.rows(500, 2));
    }, names[at] as string);
  }
  const answers = () =>
    Promise.all(
      tabs.map((tab, at) =>
        tab.evaluate(async (name) => {
          const { db } = window;
          const listed = (await db.scan({ index: name }).toArray()).length;
          const tree = db.sumTree(name);
          await tree.get('none');
          // As text: a result leaves the page as JSON.
          return [listed, String(tree.root.sum)];
        }, names[at] as string),
      ),
    );
  await expect.poll(answers).toEqual([
    [500, String((499 * 500) / 2)],
    [500, '1000'],
  ]);
  for (const tab of tabs) {
    const codes = await tab.evaluate(async () => {
      const { db } = window;
      const bad = await window.codeOf(db.put('issue/bad', { id: -1, round: -1 }));
      await db.put('issue/000001', { id: 1, round: 3 });
      return bad;
    });
    expect(codes).toBe('value');
  }
  await expect.poll(answers).toEqual([
    [500, String((499 * 500) / 2)],
    [500, '1001'],
  ]);
});
