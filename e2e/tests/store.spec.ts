/** The whole store on real IndexedDB: its rows are there, also after the browser's end. */
import { expect, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

declare global {
  interface Window {
    entries: [string, unknown][];
  }
}

test('20,000 rows are read in every way, and outlive the browser', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const before = await visit(persistentPage.page);
  await openStore(before, 'app');
  const loaded = await before.evaluate(async () => {
    const { root, rows } = await window.db.putMany(window.rows(20_000));
    return { root, rows, sorted: await window.digest(window.rows(20_000).sort()) };
  });
  const first = await stateOf(before);
  expect(first).toEqual({ root: loaded.root, count: 20_000, digest: loaded.sorted });

  const readAll = () => {
    const { db } = window;
    return Promise.all([
      db.get<{ id: number }>('issue/012345').then((value) => value?.id),
      db.get('issue/none'),
      db
        .getMany<{ id: number }>(['issue/019999', 'x', 'issue/000000'])
        .then((v) => v.map((o) => o?.id)),
      Promise.all([db.has('issue/000001'), db.has('issue/')]),
      db.count({ gte: 'issue/010000', lt: 'issue/010100' }),
      db.scan({ prefix: 'issue/0001', limit: 3 }).keys().toArray(),
      db.scan({ prefix: 'issue/0001', limit: 2, reverse: true }).keys().toArray(),
      db
        .scan<{ id: number }>({ gt: 'issue/019997' })
        .values()
        .toArray()
        .then((v) => v.map((o) => o.id)),
      db.scan().toArray().then(window.digest),
      db
        .scan({ reverse: true })
        .toArray()
        .then((all) => window.digest(all.reverse())),
    ]);
  };
  const expected = [
    12345,
    undefined,
    [19999, undefined, 0],
    [true, false],
    100,
    ['issue/000100', 'issue/000101', 'issue/000102'],
    ['issue/000199', 'issue/000198'],
    [19998, 19999],
    loaded.sorted,
    loaded.sorted,
  ];
  expect(await before.evaluate(readAll)).toEqual(expected);

  const after = await visit(await persistentPage.relaunch());
  expect(await openStore(after, 'app')).toBe(loaded.root);
  expect(await after.evaluate(readAll)).toEqual(expected);
  expect(await stateOf(after)).toEqual(first);

  // A second load on top, with changed and new rows; and back again.
  const changed = await after.evaluate(async () => {
    await window.db.putMany(window.rows(5000, 1));
    await window.db.put('zebra', 1);
    const fresh = await window.hedgerow.open('fresh');
    await fresh.putMany([...window.rows(20_000), ...window.rows(5000, 1), ['zebra', 1]]);
    return { root: window.db.root, fresh: fresh.root };
  });
  expect(changed.root).toBe(changed.fresh);
  expect(changed.root).not.toBe(first.root);
  const second = await stateOf(after);
  const last = await visit(await persistentPage.relaunch());
  await openStore(last, 'app');
  expect(await stateOf(last)).toEqual(second);
  await last.evaluate(async () => {
    await window.db.putMany(window.rows(20_000));
    await window.db.delete('zebra');
  });
  expect(await stateOf(last)).toEqual(first);
});

test('bytes, large values and keys of every script outlive the browser', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const fill = async () => {
    const names = [
      '',
      '\0',
      '"\\\n',
      '__proto__',
      'ключ',
      'مفتاح',
      'चाबी',
      '钥匙',
      '키',
      '～',
      '😀',
    ];
    const sizes = [0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20];
    const entries: [string, unknown][] = [
      ...names.map((name): [string, unknown] => [name, { [name]: name, lone: '\ud800' }]),
      ...sizes.map((size): [string, unknown] => [`bytes ${size}`, window.bytes(size, size)]),
      ...sizes.map((size): [string, unknown] => [`text ${size}`, 'é'.repeat(size / 2)]),
    ];
    window.entries = entries;
  };
  const before = await visit(persistentPage.page);
  await openStore(before, 'kept');
  await before.evaluate(fill);
  await before.evaluate(async () => {
    const { entries } = window;
    await window.db.putMany(entries.slice(10));
    await Promise.all(entries.slice(0, 10).map(([key, value]) => window.db.put(key, value)));
  });
  const state = await stateOf(before);

  const after = await visit(await persistentPage.relaunch());
  await openStore(after, 'kept');
  expect(await stateOf(after)).toEqual(state);
  await after.evaluate(fill);
  const same = await after.evaluate(async () => {
    const { entries } = window;
    const found = await window.db.getMany(entries.map(([key]) => key));
    const read = entries.map(([key], at): [string, unknown] => [key, found[at]]);
    const single: [string, unknown][] = [];
    for (const [key] of entries) single.push([key, await window.db.get(key)]);
    const digests = await Promise.all([entries, read, single].map(window.digest));
    const keys = await window.db.scan().keys().toArray();
    return { digests: new Set(digests).size, order: keys.indexOf('～') < keys.indexOf('😀') };
  });
  expect(same).toEqual({ digests: 1, order: true });
});

test('destroy leaves no part of a store', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'gone');
  const empty = await stateOf(page);
  await page.evaluate(async () => {
    await window.db.putMany(window.rows(100));
    await window.db.close();
    await window.hedgerow.destroy('gone');
  });
  await openStore(page, 'gone');
  expect(await stateOf(page)).toEqual(empty);
});

for (const before of [0, 1000]) {
  test(`a reload in the middle of a putMany leaves ${before} old rows`, {
    tag: before === 0 ? [] : '@core',
  }, async ({ persistentPage }) => {
    const page = await visit(persistentPage.page);
    await openStore(page, 'torn');
    await page.evaluate((before) => window.db.putMany(window.rows(before)), before);
    const state = await stateOf(page);
    const stored = await page.evaluate(() => window.countRecords('torn', 'segments'));
    await page.evaluate(() => {
      // 60 MB, of which storage has some, and a source without an end: the load never commits.
      const source = async function* () {
        yield* window.manyBytes(600);
        await new Promise(() => {});
      };
      void window.db.putMany(source());
    });
    await page.waitForFunction(
      async (stored) => (await window.countRecords('torn', 'segments')) > stored,
      stored,
    );
    await page.reload();
    await visit(page);
    await openStore(page, 'torn');
    expect(await stateOf(page)).toEqual(state);
    await page.evaluate(() => window.db.putMany(window.manyBytes(20)));
    expect(await page.evaluate(() => window.db.count())).toBe(before + 20);
  });
}

test('a tab sees the commits of another', async ({ persistentPage }) => {
  const one = await visit(persistentPage.page);
  const other = await visit(await persistentPage.newPage());
  for (const page of [one, other]) await openStore(page, 'seen');
  const soon = (page: typeof one, key: string) =>
    page.waitForFunction(async (key) => (await window.db.get(key)) !== undefined, key);
  for (let at = 0; at < 10; at++) {
    await one.evaluate((at) => window.db.put(`one/${at}`, at), at);
    await soon(other, `one/${at}`);
    await other.evaluate((at) => window.db.put(`other/${at}`, at), at);
    await soon(one, `other/${at}`);
  }
  await one.evaluate(() => window.db.putMany(window.rows(5000)));
  await soon(other, 'issue/004999');
  expect(await stateOf(other)).toEqual(await stateOf(one));
  // A scan stays at the commit that it began with.
  const rows = await other.evaluate(async () => {
    const rows = window.db.scan()[Symbol.asyncIterator]();
    await rows.next();
    return new Promise<number>((resolve) => {
      window.hedgerow.open('seen').then(async (handle) => {
        await handle.clear();
        await handle.close();
        while ((await window.db.count()) > 0) await new Promise((next) => setTimeout(next, 5));
        let count = 1;
        while ((await rows.next()).done !== true) count += 1;
        resolve(count);
      });
    });
  });
  expect(rows).toBe(5020);
});

test('two tabs load at the same time, and lose no row', { tag: '@core' }, async ({
  persistentPage,
}) => {
  const one = await visit(persistentPage.page);
  const other = await visit(await persistentPage.newPage());
  for (const page of [one, other]) await openStore(page, 'loaded');
  const load = (name: string) =>
    `(async () => {
      const rows = Array.from({ length: 20000 }, (_, at) => [\`\${at}/${name}\`, { at, name: '${name}' }]);
      const loading = window.db.putMany(rows);
      for (let at = 0; at < 20; at++) await window.db.put('${name}/' + at, at);
      await loading;
      await window.db.deleteMany({ gte: '100/${name}', lte: '100/${name}' });
    })()`;
  await Promise.all([one.evaluate(load('one')), other.evaluate(load('other'))]);
  const third = await visit(await persistentPage.newPage());
  await openStore(third, 'loaded');
  const seen = await third.evaluate(async () => {
    const keys = await window.db.scan().keys().toArray();
    const parts = keys.map((key) => key.split('/')[1] as string);
    const of = (name: string) => parts.filter((part) => part === name).length;
    return [keys.length, of('one'), of('other'), await window.db.has('100/one')];
  });
  expect(seen).toEqual([40_038, 19_999, 19_999, false]);
});

test('two tabs write one store', async ({ persistentPage }) => {
  const one = await visit(persistentPage.page);
  const other = await visit(await persistentPage.newPage());
  await openStore(one, 'shared');
  await openStore(other, 'shared');
  await one.evaluate(() => window.db.putMany(window.rows(1000)));
  await other.evaluate(() => window.db.put('other', 1));
  expect(await other.evaluate(() => window.db.count())).toBe(1001);

  // Both at the same time: each loses races, and no row is lost.
  const putMany = (name: string) =>
    `(async () => { for (let at = 0; at < 50; at++) await window.db.put('${name}/' + at, at); })()`;
  await Promise.all([one.evaluate(putMany('one')), other.evaluate(putMany('other'))]);
  await one.evaluate(() => window.db.put('end', 1));
  await other.evaluate(() => window.db.put('end', 2));
  expect(await other.evaluate(() => window.db.count())).toBe(1102);

  // A bulk change comes on top of the other tab's later puts.
  await one.evaluate(() => window.db.putMany(window.rows(10, 2)));
  expect(await one.evaluate(() => window.db.get('end'))).toBe(2);
  const third = await visit(await persistentPage.newPage());
  await openStore(third, 'shared');
  expect(await stateOf(third)).toEqual(await stateOf(one));
});
