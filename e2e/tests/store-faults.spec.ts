/** The whole store on real IndexedDB that is full, damaged, or of a later format. */
import { expect, test } from './fixtures.js';
import { openStore, stateOf, visit } from './store-page.js';

const MIB = 1 << 20;

for (const before of [0, 1000]) {
  test(`a full disk during a putMany leaves ${before} rows readable`, { tag: '@chromium' }, async ({
    chromiumPage,
  }) => {
    const page = await visit(chromiumPage.page);
    const cdp = await chromiumPage.context.newCDPSession(page);
    const { origin } = new URL(page.url());
    // Before the first write: Chromium remembers the available room for a while.
    await cdp.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 8 * MIB });
    await openStore(page, 'full');
    await page.evaluate((before) => window.db.putMany(window.rows(before)), before);
    const state = await stateOf(page);

    const code = await page.evaluate(() => window.codeOf(window.db.putMany(window.manyBytes(400))));
    expect(code).toBe('quota-exceeded');
    expect(await stateOf(page)).toEqual(state);

    await cdp.send('Storage.overrideQuotaForOrigin', { origin });
    await page.evaluate(() => window.db.putMany(window.manyBytes(400)));
    expect(await page.evaluate(() => window.db.count())).toBe(before + 400);
    const full = await stateOf(page);
    const after = await visit(await chromiumPage.relaunch());
    await openStore(after, 'full');
    expect(await stateOf(after)).toEqual(full);
  });
}

test('a damaged segment is corrupt-chunk, and other rows are readable', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'damaged');
  await page.evaluate(() => window.db.putMany(window.rows(20_000)));
  const { root } = await stateOf(page);
  await page.evaluate(async () => {
    await window.db.close();
    let left = 1;
    await window.editRecords('damaged', 'segments', (value) => {
      const bytes = value as Uint8Array;
      if (bytes.length > 100_000 && left-- > 0) bytes[50_000] = (bytes[50_000] ?? 0) ^ 1;
      return bytes;
    });
  });
  expect(await openStore(page, 'damaged')).toBe(root);
  const found = await page.evaluate(async () => {
    const codes = new Map<unknown, number>();
    const chunks = new Set<unknown>();
    for (const [key] of window.rows(20_000)) {
      const error = await window.db.get(key).then(
        () => ({ code: 'none', detail: undefined, chunk: undefined }),
        (cause: { code: string; detail?: string; chunk?: string }) => cause,
      );
      codes.set(error.detail ?? error.code, (codes.get(error.detail ?? error.code) ?? 0) + 1);
      if (error.code !== 'none') chunks.add(error.chunk);
    }
    const scan = await window.codeOf(window.db.scan().toArray());
    return { codes: Object.fromEntries(codes), chunks: [...chunks], scan };
  });
  expect(found.scan).toBe('corrupt-chunk');
  expect(Object.keys(found.codes).sort()).toEqual(['corrupt-chunk', 'none']);
  expect(found.codes.none).toBeGreaterThan(19_000);
  expect(found.chunks).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test('a segment that is gone is missing-chunk', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'holed');
  await page.evaluate(async () => {
    // More than one segment: the commit is in the last one.
    await window.db.putMany(window.rows(30_000));
    await window.db.close();
    let left = 1;
    await window.editRecords('holed', 'segments', (value) =>
      (value as Uint8Array).length > 100_000 && left-- > 0 ? 'gone' : value,
    );
  });
  await openStore(page, 'holed');
  const codes = await page.evaluate(async () => {
    const found = new Set<unknown>();
    for (const [key] of window.rows(30_000)) found.add(await window.codeOf(window.db.get(key)));
    return [...found].map(String).sort();
  });
  expect(codes).toEqual(['missing-chunk', 'undefined']);
});

test('a ref of a later format is newer-version/format', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'later');
  const setFormat = (format: number) =>
    page.evaluate(
      (format) =>
        window.editRecords('later', 'refs', (value, key) =>
          Array.isArray(key) ? (value as Uint8Array).fill(format, 32, 33) : value,
        ),
      format,
    );
  await page.evaluate(async () => {
    await window.db.put('a', 1);
    await window.db.close();
  });
  await setFormat(2);
  const code = await page.evaluate(() => window.codeOf(window.hedgerow.open('later')));
  expect(code).toBe('format');
  // The connection was closed: it blocks neither another one nor a deletion.
  await setFormat(1);
  await openStore(page, 'later');
  expect(await page.evaluate(() => window.db.get('a'))).toBe(1);
});

test('a store that is deleted under its handle is closed', async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'deleted');
  await page.evaluate(() => window.db.put('a', 1));
  const other = await visit(await persistentPage.newPage());
  await other.evaluate(() => window.hedgerow.destroy('deleted'));
  expect(await page.evaluate(() => window.codeOf(window.db.put('b', 1)))).toBe('closed');
  await openStore(page, 'deleted');
  expect(await page.evaluate(() => window.db.count())).toBe(0);
});
