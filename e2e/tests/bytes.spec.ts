/** Bytes from the network and the writer, in a real browser on real IndexedDB. */
import { expect, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

const COUNT = 30_000;

const line = (id: number) =>
  JSON.stringify({
    id: `row/${String(id).padStart(6, '0')}`,
    text: `Row number ${id}`,
    é: [id, 1.5],
  });

test('a response goes into the store as its rows would', { tag: '@chromium' }, async ({
  chromiumPage,
}) => {
  const { page: blank } = chromiumPage;
  const lines = Array.from({ length: COUNT }, (_, id) => line(id));
  await blank.route('**/rows.ndjson', (route) =>
    route.fulfill({ body: `${lines.join('\r\n')}\n` }),
  );
  await blank.route('**/rows.json', (route) => route.fulfill({ body: `[${lines.join(', ')}]` }));
  await blank.route('**/broken', (route) =>
    route.fulfill({ body: `${lines.slice(0, 9000).join('\n')}\n{"id":"row/9"` }),
  );
  const page = await visit(blank);
  const roots = await page.evaluate(async () => {
    const rootOf = async (
      name: string,
      put: (db: typeof window.db) => Promise<{ root: string }>,
    ) => {
      const db = await window.hedgerow.open(name);
      const { root } = await put(db);
      await db.close();
      return root;
    };
    const key = '/id';
    return [
      await rootOf('a', async (db) =>
        db.putMany(await (await fetch('/rows.json')).json(), { key }),
      ),
      await rootOf('b', async (db) => db.putMany(await fetch('/rows.ndjson'), { key })),
      await rootOf('c', async (db) => db.putMany(await fetch('/rows.json'), { key })),
      await rootOf('d', async (db) =>
        db.putMany(await (await fetch('/rows.ndjson')).blob(), { key }),
      ),
      await rootOf('e', async (db) => {
        const { body } = await fetch('/rows.ndjson');
        if (body === null) throw new Error('no body');
        return db.putMany(body, { key });
      }),
    ];
  });
  expect(new Set(roots).size).toBe(1);
  await openStore(page, 'b');
  expect(await page.evaluate(() => window.db.get('row/029999'))).toEqual(JSON.parse(line(29_999)));

  const broken = await page.evaluate(async () => {
    const before = window.db.root;
    const error = await window.db
      .putMany(await fetch('/broken'), { key: '/id' })
      .catch((cause: { code: string; detail?: string; row: number }) => cause);
    const { code, detail = code, row } = error as { code: string; detail?: string; row: number };
    return [detail, row, window.db.root === before, await window.db.count()];
  });
  expect(broken).toEqual(['row', 9000, true, COUNT]);
});

test('an abort in the middle of a stream leaves the store as it was', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'aborted');
  await page.evaluate(() => window.db.put('a', 1));
  const outcome = await page.evaluate(async () => {
    const abort = new AbortController();
    let cancelled = false;
    let id = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(sink) {
        // Endless, with ascending keys that do not compress, so that segments are written.
        const noise = () =>
          String.fromCharCode(...window.bytes(3000, id).map((n) => 33 + (n % 58)));
        const rows = Array.from({ length: 100 }, () => {
          id += 1;
          return `{"id":"k${String(id).padStart(8, '0')}","x":${JSON.stringify(noise())}}\n`;
        });
        sink.enqueue(new TextEncoder().encode(rows.join('')));
      },
      cancel() {
        cancelled = true;
      },
    });
    const onProgress = ({ durableRows }: { durableRows: number }) => {
      if (durableRows > 0) abort.abort();
    };
    const put = window.db.putMany(stream, { key: '/id', signal: abort.signal, onProgress });
    const { code } = (await put.catch((cause: unknown) => cause)) as {
      code: string;
      detail?: string;
    };
    const rows = await window.db.scan().toArray();
    const { segments } = await window.db.health.stats();
    return [code, cancelled, rows, segments];
  });
  expect(outcome).toEqual(['aborted', true, [['a', 1]], 1]);
  // Its segments are deleted after the error.
  const stored = () => page.evaluate(() => window.countRecords('aborted', 'segments'));
  await expect.poll(stored).toBe(0);
});

test('a forgotten writer leaves no segment in storage', { tag: '@chromium' }, async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'forgotten');
  const seen = await page.evaluate(async () => {
    const { gc } = globalThis as unknown as { gc(): void };
    const stored = () => window.countRecords('forgotten', 'segments');
    let [most, awaited] = [0, 0];
    const write = async () => {
      const writer = window.db.writer();
      for (const [key, value] of window.manyBytes(100)) {
        if (writer.tryPut(key, value)) continue;
        awaited += 1;
        await writer.put(key, value);
      }
      most = await stored();
    };
    await write();
    for (let tries = 0; tries < 100 && (await stored()) > 0; tries++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await window.db.put('a', 1);
    return [most > 0, awaited > 0, await stored(), await window.db.count()];
  });
  expect(seen).toEqual([true, true, 0, 1]);
});
