/** Where two layers meet, values, their errors, and the bytes of servers have one meaning on both sides. */
import { afterEach, describe, expect, it } from 'vitest';
import { HedgerowKeyv } from '../../../adapters/src/keyv.js';
import { memory, open, rowType, type Store, table } from '../../src/index.js';
import { mutators } from '../../src/sync/mutators/index.js';
import { rest } from '../../src/sync/rest/index.js';
import { ofKind } from '../support/error-kind.js';
import { revoked } from '../support/hostile-values.js';

type Row = { readonly id: string; readonly [name: string]: unknown };
// biome-ignore lint/suspicious/noExplicitAny: rows that types refuse
type Any = any;

const stores: Store[] = [];
afterEach(async () => {
  for (const db of stores.splice(0)) await db.close();
});

async function store(): Promise<Any> {
  const tables = {
    plain: table({ schema: rowType<Row>(), key: 'id' } as never),
    structured: table({ schema: rowType<Row>(), key: 'id', values: 'structured' } as never),
  };
  const db = await open('seams', { storage: memory(), tables: tables as never });
  stores.push(db);
  return db;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const refused = (call: Promise<unknown>): Promise<Any> =>
  call.then(
    (answer) => expect.fail(`it has resolved to ${String(answer)}`),
    (cause) => cause,
  );

describe('the pointer of a refused value', () => {
  const rows: Readonly<Record<string, [row: object, what: RegExp, pointer: string]>> = {
    'two members, in the order of insertion': [
      { s: new String(), b: new Boolean() },
      /Boolean|String/,
      '/s or /b',
    ],
    'the later member by name': [{ z: 1, b: new Map(), a: [1, new WeakMap()] }, /Map|WeakMap/, ''],
    'a deep member': [{ a: { b: [0, { 'c/d': new WeakMap() }] } }, /WeakMap/, '/a/b/1/c~1d'],
    'a date in plain JSON': [{ a: { d: new Date(5) } }, /Date/, '/a/d'],
    'a function': [{ a: [() => 1] }, /function/, '/a/0'],
  };
  const memberAt = (row: object, pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .reduce((at: Any, name) => at?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], row);

  it.each(Object.entries(rows))('is in the message once, for the member: %s', async (_, [row]) => {
    const db = await store();
    for (const name of ['plain', 'structured']) {
      for (const call of ['put', 'putMany']) {
        const whole = { id: 'x', ...row };
        const given = call === 'put' ? whole : [whole];
        const error = await db[name][call](given).then(
          () => undefined,
          (cause: unknown) => cause,
        );
        if (error === undefined) continue;
        const { message, pointer } = error as Any;
        expect(error).toMatchObject(ofKind('invalid-argument/value'));
        expect(message.split(pointer).length - 1, message).toBe(1);
        const kind = Object(memberAt(whole, pointer)).constructor.name;
        expect(message.toLowerCase(), pointer).toContain(kind.toLowerCase());
      }
    }
  });

  it('a revoked proxy in the place of a row is refused', async () => {
    const db = await store();
    for (const name of ['plain', 'structured']) {
      for (const call of [
        () => db[name].put(revoked()),
        () => db[name].insert(revoked()),
        () => db[name].putMany([revoked()]),
        () => db.put('k', revoked()),
        () => db.putMany([['k', revoked()]]),
      ]) {
        expect(await refused(call())).toMatchObject({ code: 'invalid-argument', detail: 'value' });
      }
    }
  });
});

describe('a number beyond the range of doubles', () => {
  const TEXTS = ['1e999', '-1e999', '1e0400', `1${'0'.repeat(320)}`, `1${'0'.repeat(300)}e9`];
  it.each(TEXTS)('plain and structured tables refuse %s in bytes', async (text) => {
    const db = await store();
    for (const name of ['plain', 'structured']) {
      for (const whole of [
        `{"id":"a","n":1}\n{"id":"b","n":{"deep":[${text}]}}`,
        `[{"id":"a","n":1},{"id":"b","n":{"deep":[${text}]}}]`,
      ]) {
        const error = await refused(db[name].putMany(bytes(whole)));
        expect(error).toMatchObject({ code: 'invalid-data', detail: 'row', row: 1 });
        expect(error.message).toContain('a number is too large');
      }
    }
    expect(await db.count()).toBe(0);
  });

  it('tables accept large numbers within the range, and texts', async () => {
    const db = await store();
    const row = { id: 'a', n: [1e308, 0, 1.5e300], t: '1e999', u: `1${'0'.repeat(400)}` };
    const text = '{"id":"a","n":[1e308,1e-999,1.5e300],"t":"1e999","u":"1';
    await db.structured.putMany(bytes(`${text}${'0'.repeat(400)}"}`));
    expect(await db.structured.get('a')).toEqual(row);
    await db.structured.put({ id: 'i', n: Number.POSITIVE_INFINITY });
    expect(await db.structured.get('i')).toEqual({ id: 'i', n: Number.POSITIVE_INFINITY });
  });
});

describe('a byte order mark', () => {
  const MARK = [0xef, 0xbb, 0xbf];
  const cut = (whole: Uint8Array, size: number) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < whole.length; at += size) {
          controller.enqueue(whole.slice(at, at + size));
        }
        controller.close();
      },
    });
  const patch =
    '{"patch":[{"op":"put","key":"a","value":"\ufeff"}],"cookie":1,"lastMutationIDChanges":{}}';

  it.each([1, 2, 3, 4, 1000])('is skipped before a pull, in parts of %i bytes', async (size) => {
    for (const link of [rest, mutators] as Any[]) {
      const db = await store();
      const pull = async () => new Response(cut(Uint8Array.from([...MARK, ...bytes(patch)]), size));
      const own = link === mutators ? { mutators: {} } : {};
      const opened = await db.connect(link({ pull, push: async () => undefined, ...own }));
      await opened.pull();
      expect(await db.get('a')).toBe('\ufeff');
      await opened.close();
    }
  });

  it('is malformed if it is broken or repeated', async () => {
    for (const front of [[0xef], [0xef, 0xbb], [0xbb, 0xbf], [...MARK, ...MARK], [0x20, ...MARK]]) {
      const db = await store();
      const pull = async () => new Response(Uint8Array.from([...front, ...bytes(patch)]));
      const link = await db.connect(rest({ pull, push: async () => undefined }));
      expect(await refused(link.pull())).toMatchObject({ code: 'remote', detail: 'response' });
      expect(await db.get('a')).toBeUndefined();
      await link.close();
    }
  });
});

describe('keyv', () => {
  it('keeps values without expiry, and refuses invalid times', async () => {
    const db = await store();
    const keyv = new HedgerowKeyv(db);
    expect(await keyv.set('a', 1, Number.POSITIVE_INFINITY)).toBe(true);
    await keyv.setMany([{ key: 'b', value: 2, ttl: Number.POSITIVE_INFINITY }]);
    expect(await keyv.getMany(['a', 'b'])).toEqual([1, 2]);
    for (const ttl of ['5', 5n, {}, Symbol('t')]) {
      expect(await refused(keyv.set('c', 1, ttl as never))).toMatchObject({
        ...ofKind('invalid-argument'),
      });
    }
    expect(await keyv.has('c')).toBe(false);
  });
});
