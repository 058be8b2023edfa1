/** `insert` and `update`: changes of one row that depend on its present value. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { all, failure, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { handles } from '../../support/watching.js';

describe('insert', () => {
  it('puts a new row, and refuses an existing one, with its key', async () => {
    const db = await storeOf([['a', null]]);
    await db.insert('b', { n: 1 });
    await db.insert('c', Uint8Array.of(1, 2));
    await db.insert('d', null);
    const { root } = db;
    for (const key of ['a', 'b', 'c', 'd']) {
      await expect(db.insert(key, 2)).rejects.toMatchObject({
        code: 'exists',
        key,
        retryable: false,
        message: expect.stringContaining(JSON.stringify(key)),
      });
    }
    expect(db.root).toBe(root);
    expect(await all(db)).toEqual([
      ['a', null],
      ['b', { n: 1 }],
      ['c', Uint8Array.of(1, 2)],
      ['d', null],
    ]);
  });

  it('of one key by many callers in two tabs succeeds once', async () => {
    const [one, two] = await handles(2);
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 12 }, (_, at) =>
        [one, two][at % 2]?.insert(`k${round}`, { at }),
      );
      const ends = await Promise.allSettled(calls);
      const made = ends.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []));
      expect(made.length).toBe(1);
      expect(await one.get(`k${round}`)).toEqual({ at: made[0] });
      for (const end of ends) {
        if (end.status === 'rejected') expect(end.reason).toMatchObject(failure('exists'));
      }
    }
  });

  it('comes after earlier calls of the handle', async () => {
    const db = await storeOf([['a', 1]]);
    const [, inserted] = await Promise.all([db.delete('a'), db.insert('a', 2).catch((e) => e)]);
    expect(inserted).toBeUndefined();
    expect(await db.get('a')).toBe(2);
    const [, refused] = await Promise.all([db.put('b', 1), db.insert('b', 2).catch((e) => e)]);
    expect(refused).toMatchObject(failure('exists'));
    expect(await db.get('b')).toBe(1);
  });

  it('takes its value at the call', async () => {
    const db = await storeOf();
    const value = { n: 1, bytes: undefined };
    const inserting = db.insert('a', value);
    value.n = 2;
    await inserting;
    expect(await db.get('a')).toEqual({ n: 1 });
  });

  it('refuses a bad key, value or option, and a store that is closed', async () => {
    const db = await storeOf();
    await expect(db.insert('\ud800', 1)).rejects.toMatchObject(failure('invalid-argument/key'));
    for (const value of [undefined, () => 1, Number.NaN, { f: new Map([[1, 2]]) }]) {
      await expect(db.insert('a', value)).rejects.toMatchObject(failure('invalid-argument/value'));
    }
    await expect(db.insert('a', 1, { keep: true } as never)).rejects.toMatchObject(
      failure('invalid-argument'),
    );
    expect(await db.count()).toBe(0);
    await db.close();
    await expect(db.insert('a', 1)).rejects.toMatchObject(failure('closed'));
  });
});

describe('update', () => {
  it('merges members, removes undefined members, and resolves to the new value', async () => {
    const db = await storeOf([['a', { n: 1, deep: { x: 1 }, gone: true }]]);
    const value = { n: 2, deep: { y: 1 } };
    expect(await db.update('a', { n: 2, deep: { y: 1 }, gone: undefined })).toEqual(value);
    expect(await db.get('a')).toEqual(value);
    expect(await db.update('a', {})).toEqual(value);
    expect(await db.update('a', { missing: undefined })).toEqual(value);
  });

  it('makes a new row of the members', async () => {
    const db = await storeOf();
    expect(await db.update('a', { n: 1, m: undefined })).toEqual({ n: 1 });
    expect(await db.get('a')).toEqual({ n: 1 });
  });

  it('equals `update` of a patch', async () => {
    const patched = await storeOf();
    const updated = await storeOf();
    await forSeeds(40, async (from) => {
      const key = `k${from.below(6)}`;
      const merge = Object.fromEntries(
        Array.from({ length: from.below(4) }, () => [
          from.pick(['a', 'b', '__proto__', 'é', '']),
          from.value(2),
        ]),
      );
      await patched.applyPatch([{ op: 'update', key, merge }]);
      await updated.update(key, merge);
      expect(updated.root).toBe(patched.root);
    });
  });

  it('removes members like `unset` of a patch', async () => {
    const [patched, updated] = [await storeOf(), await storeOf()];
    const row = { a: 1, b: [2], __proto__: null, c: { d: 3 }, '7': 4 };
    for (const db of [patched, updated]) await db.put('a', row);
    const unset = ['b', '7', 'none', '__proto__'];
    await patched.applyPatch([{ op: 'update', key: 'a', merge: { e: 5 }, unset }]);
    const none = Object.fromEntries(unset.map((name) => [name, undefined]));
    expect(await updated.update('a', { e: 5, ...none })).toEqual({ a: 1, c: { d: 3 }, e: 5 });
    expect(updated.root).toBe(patched.root);
    // Only members that the operation has merged before are removed, too.
    await patched.applyPatch([
      { op: 'update', key: 'a', merge: { a: 2, f: 6 }, unset: ['a'] },
      { op: 'update', key: 'a', merge: { a: 3 } },
    ]);
    expect(await patched.get('a')).toEqual({ c: { d: 3 }, e: 5, f: 6, a: 3 });
  });

  it('with members refuses a row that is no plain object', async () => {
    const rows: [string, unknown][] = [
      ['array', [1]],
      ['bytes', Uint8Array.of(1)],
      ['null', null],
      ['number', 1],
      ['text', 'x'],
    ];
    const db = await storeOf(rows);
    const { root } = db;
    for (const [key] of rows) {
      await expect(db.update(key, { n: 1 })).rejects.toMatchObject({
        ...ofKind('invalid-argument/value'),
        key,
        message: expect.stringContaining('function'),
      });
    }
    expect(db.root).toBe(root);
    expect(await db.update<number>('number', (n = 0) => n + 1)).toBe(2);
  });

  it('by a function gets the present value, and leaves the row when the function returns undefined', async () => {
    const db = await storeOf([['a', { n: 1 }]]);
    const { root } = db;
    expect(await db.update('a', () => undefined)).toEqual({ n: 1 });
    expect(await db.update('b', () => undefined)).toBeUndefined();
    expect(await db.update('b', async () => undefined)).toBeUndefined();
    expect(db.root).toBe(root);
    expect(await db.update<{ n: number }>('a', async (row) => ({ n: (row?.n ?? 0) + 1 }))).toEqual({
      n: 2,
    });
    expect(await db.update<unknown>('b', (row) => [row === undefined])).toEqual([true]);
    expect(await db.update('c', () => Uint8Array.of(3))).toEqual(Uint8Array.of(3));
    expect((await all(db)).length).toBe(3);
  });

  it('that throws leaves the row as it was', async () => {
    const db = await storeOf([['a', 1]]);
    const { root } = db;
    const mine = new Error('mine');
    await expect(db.update('a', () => Promise.reject(mine))).rejects.toBe(mine);
    const thrower = () => {
      throw mine;
    };
    await expect(db.update('a', thrower)).rejects.toBe(mine);
    await expect(db.update('a', () => Number.NaN)).rejects.toMatchObject(
      failure('invalid-argument/value'),
    );
    expect(db.root).toBe(root);
  });

  it('loses no increment of two tabs and their turns', async () => {
    const [one, two] = await handles(2);
    await one.put('n', { n: 0 });
    const calls = Array.from({ length: 40 }, (_, at) =>
      [one, two][at % 2]?.update<{ n: number }>('n', async (row) => {
        if (at % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        return { n: (row?.n ?? 0) + 1 };
      }),
    );
    const results = await Promise.all(calls);
    expect(results.map((row) => row?.n).sort((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    expect(await one.get('n')).toEqual({ n: 40 });
  });

  it('takes members at the call, and comes after earlier calls', async () => {
    const db = await storeOf([['a', { n: 1 }]]);
    const members: Record<string, unknown> = { m: 1, n: undefined };
    const [, updated] = await Promise.all([
      db.put('a', { n: 2, o: 3 }),
      db.update('a', members),
      Promise.resolve().then(() => Object.assign(members, { m: 2, n: 5, o: undefined })),
    ]);
    expect(updated).toEqual({ m: 1, o: 3 });
    expect(await db.get('a')).toEqual({ m: 1, o: 3 });
  });

  it('refuses a change that is neither members nor a function', async () => {
    const db = await storeOf([['a', { n: 1 }]]);
    for (const change of [[1], 'x', 1, null, new Date(), Uint8Array.of(1)] as never[]) {
      await expect(db.update('a', change)).rejects.toMatchObject(failure('invalid-argument'));
    }
    for (const change of [undefined, { n: Number.NaN }, { f: new Set([1]) }] as never[]) {
      await expect(db.update('a', change)).rejects.toMatchObject(failure('invalid-argument/value'));
    }
    await expect(db.update('\ud800', {})).rejects.toMatchObject(failure('invalid-argument/key'));
    expect(await db.get('a')).toEqual({ n: 1 });
  });

  it('and insert work on a branch, and with a durability', async () => {
    const db = await open('test', { storage: memory() });
    const draft = await db.branches.open('draft');
    await draft.insert('a', { n: 1 }, { durability: 'strict' });
    await draft.update('a', { m: 2 }, { durability: 'strict' });
    expect(await db.count()).toBe(0);
    expect(await draft.get('a')).toEqual({ n: 1, m: 2 });
  });
});
