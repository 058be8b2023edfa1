/** Bytes of another realm count as bytes: such bytes come from frames, and from tests that run in their own globals. */
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { memory, open, rowType, type Store, table } from '../../src/index.js';

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

const foreign = (text: string, kind = 'Uint8Array') =>
  runInNewContext(`new ${kind}([${[...new TextEncoder().encode(text)]}])`) as Uint8Array;
const buffer = (text: string) => foreign(text).buffer as ArrayBuffer;

const items = table({
  schema: rowType<{ id: string; bytes?: Uint8Array }>(),
  key: 'id',
  values: 'structured',
});
const plain = table({ schema: rowType<{ id: string }>(), key: 'id' });

it('foreign bytes work as values, as sources, and in rows', async () => {
  expect(foreign('x')).not.toBeInstanceOf(Uint8Array);
  const db = await open('realms', { storage: memory(), tables: { items, plain } });
  opened.push(db);
  await db.put('value', foreign('hi'));
  expect(await db.get('value')).toEqual(new TextEncoder().encode('hi'));
  await db.transaction((tx) => tx.put('tx', foreign('tx')));
  expect(await db.get('tx')).toEqual(new TextEncoder().encode('tx'));
  const line = '["a",1]\n["b",2]\n';
  expect((await db.putMany(foreign(line))).rows).toBe(2);
  expect((await db.putMany(buffer(line))).rows).toBe(2);
  expect((await db.putMany([foreign(line.slice(0, 9)), foreign(line.slice(9))])).rows).toBe(2);
  const patch = '[{"op":"put","key":"c","value":3}]';
  expect((await db.applyPatch(foreign(patch), { format: 'json' })).rows).toBe(1);
  expect((await db.plain.putMany(foreign('{"id":"x"}\n'))).rows).toBe(1);
  expect((await db.items.putMany(foreign('{"id":"y"}\n'))).rows).toBe(1);
  await db.items.put({ id: 'z', bytes: foreign('in a row') });
  expect((await db.items.get('z'))?.bytes).toEqual(new TextEncoder().encode('in a row'));
});

it('a store refuses other typed arrays', async () => {
  const db = await open('realms', { storage: memory() });
  opened.push(db);
  for (const kind of ['Uint16Array', 'Float64Array', 'Int8Array']) {
    const error = await db.put('k', foreign('ab', kind)).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'invalid-argument', detail: 'value' });
  }
});
