/** Sum trees in a real browser, on disk: reloaded, written by two tabs, and after a crash. */
import { expect, type Page, test } from './fixtures.js';
import { visit } from './store-page.js';

const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };

function openWithSums(page: Page, name: string): Promise<void> {
  return page.evaluate(
    async ({ name, sums }) => {
      window.db = await window.hedgerow.open(name, { advanced: { sums } });
    },
    { name, sums: SUMS },
  );
}

/** Returns the total of the tree, of the rows, and of the leaves, and whether all is sound. */
function agreement(page: Page) {
  return page.evaluate(async () => {
    const tree = window.db.sumTree('balances');
    const leaves = await tree.entries().toArray();
    const rows = await window.db.scan<{ cents: number }>({ prefix: 'acct/' }).toArray();
    const ofRows = rows.reduce((sum, [, { cents }]) => sum + cents, 0);
    const ofLeaves = leaves.reduce((sum, leaf) => sum + leaf.sum, 0n);
    const { ok } = await window.db.health.verify();
    const found = await tree.getMany(rows.slice(0, 200).map(([key]) => key));
    const isEach = found.every((leaf, at) => leaf?.sum === BigInt(rows[at]?.[1].cents ?? -1));
    return {
      rows: rows.length,
      leaves: leaves.length,
      total: String(tree.root.sum),
      ofRows: String(ofRows),
      ofLeaves: String(ofLeaves),
      hash: tree.root.hash,
      isEach,
      ok,
    };
  });
}

async function expectAgreed(page: Page) {
  const found = await agreement(page);
  expect(found.total).toBe(found.ofRows);
  expect(found.total).toBe(found.ofLeaves);
  expect(found.leaves).toBe(found.rows);
  expect(found.isEach).toBe(true);
  expect(found.ok).toBe(true);
  return found;
}

test('leaves are there after a reload and in another browser, with the same root', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openWithSums(page, 'kept');
  const put = await page.evaluate(async () => {
    const tree = window.db.sumTree('t');
    const leaves = Array.from({ length: 3000 }, (_, at) => ({
      key: `leaf ${at}`,
      value: new Uint8Array([at % 256]),
      sum: BigInt(at),
    }));
    const { root } = await tree.putMany(leaves, { durability: 'strict' });
    await window.db.putMany([['acct/1', { cents: 5 }]], { durability: 'strict' });
    return { hash: root.hash, sum: String(root.sum), store: window.db.root };
  });
  expect(put.sum).toBe(String((2999 * 3000) / 2));
  const read = async (page: Page) => {
    await openWithSums(page, 'kept');
    return page.evaluate(async () => {
      const tree = window.db.sumTree('t');
      const { hash, sum } = tree.root;
      const leaf = await tree.get('leaf 1234');
      return {
        kept: { hash, sum: String(sum), store: window.db.root },
        leaf: [leaf?.sum, ...(leaf?.value ?? [])].map(String),
        count: (await tree.entries().toArray()).length,
      };
    });
  };
  for (const again of [() => page, () => persistentPage.relaunch()]) {
    const reloaded = await visit(await again());
    const found = await read(reloaded);
    expect(found).toEqual({ kept: put, leaf: ['1234', String(1234 % 256)], count: 3000 });
    await expectAgreed(reloaded);
  }
});

test('two tabs write to one followed tree, and no sum is lost', async ({ persistentPage }) => {
  const tabs = [
    await visit(persistentPage.page),
    await visit(await persistentPage.context.newPage()),
  ];
  for (const tab of tabs) await openWithSums(tab, 'shared');
  await Promise.all(
    tabs.map((page, tab) =>
      page.evaluate(async (tab) => {
        const { db } = window;
        for (let at = 0; at < 40; at++) {
          const entry = (n: number): [string, unknown] => [`acct/${tab}/${n}`, { cents: n + 1 }];
          if (at % 10 === 5) {
            await db.putMany(Array.from({ length: 300 }, (_, n) => entry(1000 * at + n)));
          } else {
            await db.put(...entry(at));
          }
          // Both move the same row, too: no amount is lost between two balances.
          await db.transaction(async (tx) => {
            const shared = await tx.get<{ cents: number }>('acct/shared');
            tx.put('acct/shared', { cents: (shared?.cents ?? 0) + 1 });
          });
          await db.sumTree('by hand').put(`${tab}/${at}`, { value: new Uint8Array([1]), sum: 1n });
        }
      }, tab),
    ),
  );
  const fresh = await visit(await persistentPage.context.newPage());
  await openWithSums(fresh, 'shared');
  const found = await expectAgreed(fresh);
  expect(found.rows).toBe(2 * (36 + 4 * 300) + 1);
  const others = await fresh.evaluate(async () => {
    const shared = await window.db.get<{ cents: number }>('acct/shared');
    const tree = window.db.sumTree('by hand');
    return [shared?.cents, String(tree.root.sum), (await tree.entries().toArray()).length];
  });
  expect(others).toEqual([80, '80', 80]);
  // The same leaves give the same root, in any order of writers.
  const hash = await fresh.evaluate(async () => {
    const rows = await window.db.scan().toArray();
    const sums = { balances: { sum: '/cents', prefix: 'acct/' } };
    const other = await window.hedgerow.open('once', { advanced: { sums } });
    await other.putMany(rows);
    return other.sumTree('balances').root.hash;
  });
  expect(hash).toBe(found.hash);
});

test('a page that crashes in mid-load leaves rows and sums that agree', {
  tag: '@chromium',
}, async ({ chromiumPage }) => {
  test.setTimeout(180_000);
  const { context } = chromiumPage;
  let survived = 0;
  for (const [crash, ms] of [0, 3, 8, 20, 45, 90, 160, 300].entries()) {
    const name = `crashed ${crash}`;
    const page = await visit(await context.newPage());
    await openWithSums(page, name);
    const before = await page.evaluate(async () => {
      const entries = (count: number, plus: number) =>
        Array.from({ length: count }, (_, at): [string, unknown] => [
          `acct/${String((at * 7919) % count).padStart(6, '0')}`,
          { cents: at + plus, note: 'x'.repeat(40) },
        ]);
      // No load touches the first; a deletion of all the others may be the last commit.
      const kept: [string, unknown] = ['acct/kept', { cents: 7 }];
      await window.db.putMany([kept, ...entries(200, 1)], { durability: 'strict' });
      // From here on: load after load, in which rows are new, changed and deleted.
      void (async () => {
        for (let round = 0; ; round++) {
          await window.db.putMany(entries(1000 + 500 * round, round));
          await window.db.deleteMany({ prefix: `acct/00${round % 10}` });
          await window.db.put('acct/one', { cents: round });
        }
      })();
      return window.db.root;
    });
    // Every other crash falls into a later load than the first.
    if (crash % 2 === 1) await page.waitForFunction((root) => window.db.root !== root, before);
    await new Promise((resolve) => setTimeout(resolve, ms));
    const cdp = await context.newCDPSession(page);
    const crashed = new Promise((resolve) => page.once('crash', resolve));
    cdp.send('Page.crash').catch(() => {});
    await crashed;
    const fresh = await visit(await context.newPage());
    await openWithSums(fresh, name);
    const found = await expectAgreed(fresh);
    const kept = await fresh.evaluate(() => window.db.get('acct/kept'));
    expect(kept).toEqual({ cents: 7 });
    expect(found.rows).toBeGreaterThan(0);
    if ((await fresh.evaluate(() => window.db.root)) !== before) survived += 1;
    await fresh.close();
    await page.close();
  }
  expect(survived).toBeGreaterThan(0);
  console.log(`${survived} of 8 crashes came after a commit of the loads`);
});
