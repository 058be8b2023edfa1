/** Arguments that only a browser has, or has in another form than Node: files, its own errors, minified code. */
import { expect, test } from './fixtures.js';
import { openStore, visit } from './store-page.js';

test('files and bytes within values are refused with their place, and stored as bytes', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'files');
  const seen = await page.evaluate(async () => {
    const { db } = window;
    const file = new File(['text'], 'name.txt');
    const codes: unknown[] = [];
    for (const value of [file, { a: [file] }, { image: new ImageData(1, 1) }, document.body]) {
      const error = await db.put('k', value).catch((cause: unknown) => cause);
      const {
        code,
        detail = code,
        pointer,
      } = error as { code?: string; detail?: string; pointer?: string };
      codes.push([detail, pointer]);
    }
    await db.put('file', new Uint8Array(await file.arrayBuffer()));
    const bytes = await db.get<Uint8Array>('file');
    return { codes, text: new TextDecoder().decode(bytes), rows: await db.count() };
  });
  expect(seen.codes).toEqual([
    ['value', ''],
    ['value', '/a/0'],
    // Where `data` is a getter of the prototype, as in Firefox, JSON would make `{}` of the image.
    ['value', expect.stringMatching(/^\/image(\/data)?$/)],
    ['value', ''],
  ]);
  expect(seen).toMatchObject({ text: 'text', rows: 1 });
});

test('wrong arguments are typed errors, whose code the console shows', {
  tag: '@chromium',
}, async ({ persistentPage }) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'arguments');
  const seen = await page.evaluate(async () => {
    const { db } = window;
    await db.put('a', 1);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const calls: (() => Promise<unknown>)[] = [
      () => db.deleteMany({ prefix: undefined as never }),
      () => db.deleteMany({ perfix: 'a' } as never),
      () => db.putMany(proxy as never),
      () => db.scan(proxy as never).toArray(),
      () => db.scan({ limit: 5n as never }).toArray(),
      () => db.scan({ limit: 5n as never }).toArray(),
      () => db.count({ signal: document.body as never }),
      () => db.getMany('text'),
    ];
    const errors: unknown[] = [];
    for (const call of calls) {
      const error = (await call().catch((cause: unknown) => cause)) as Error & {
        code?: string;
        detail?: string;
      };
      errors.push([error.detail ?? error.code, String(error.stack).includes('invalid-argument: ')]);
    }
    return { errors, rows: await db.scan().toArray() };
  });
  expect(seen.errors).toEqual(Array(8).fill(['invalid-argument', true]));
  expect(seen.rows).toEqual([['a', 1]]);
});

test('reads come after the puts before them, and close ends a source without an end', async ({
  persistentPage,
}) => {
  const page = await visit(persistentPage.page);
  await openStore(page, 'order');
  const seen = await page.evaluate(async () => {
    const { db } = window;
    void db.put('a', 1);
    void db.put('b', 2);
    void db.delete('a');
    const reads = [db.get('a'), db.get('b'), db.count(), db.scan().keys().toArray()];
    const found = await Promise.all(reads);
    const endless = async function* (): AsyncGenerator<[string, number]> {
      for (let at = 0; ; at++) {
        yield [`k${at}`, at];
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const load = db
      .putMany(endless())
      .catch((cause: { code?: string; detail?: string }) => cause.detail ?? cause.code);
    await db.close();
    return { found, code: await load };
  });
  expect(seen).toEqual({ found: [undefined, 2, 1, ['b']], code: 'closed' });
});
