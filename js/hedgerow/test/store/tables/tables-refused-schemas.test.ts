/** Schemas that tables refuse, and rows that schemas refuse. */
import { describe, expect, it } from 'vitest';
import type { StandardSchema } from '../../../src/store/tables/standard-schema.js';
import { kindOf } from '../../support/error-kind.js';
import { type Any, define, named, type Row, refused, store } from './tables-refusing.js';

describe('a schema', () => {
  const schemaOf = (validate: (value: unknown) => unknown) =>
    ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchema<Row>;

  it('reports the error, with its pointer and all of its issues', async () => {
    const issuesOf = [
      { message: 'too short', path: ['list', 0, { key: 'a/b~' }] },
      { message: 'and this' },
    ];
    const schema = schemaOf((value) => ((value as Row).ok ? { value } : { issues: issuesOf }));
    const db = await store({ issues: define({ key: 'id', schema }) });
    const facts = { pointer: '/list/0/a~1b~0', issues: issuesOf, key: 'a' };
    const expected = named('invalid-argument/value', /^issues "a": too short, and 1 more/, facts);
    expect(await refused(() => db.issues.put({ id: 'a' }))).toEqual(expected);
    expect(await refused(() => db.issues.insert({ id: 'a' }))).toEqual(expected);
    const bulk = { ...facts, row: 1 };
    for (const source of [
      [{ id: 'b', ok: 1 }, { id: 'a' }],
      new Blob(['{"id":"b","ok":1}\n{"id":"a"}']),
      new Blob(['[{"id":"b","ok":1},{"id":"a"}]']),
    ]) {
      const error = await refused(() => db.issues.putMany(source));
      expect(error).toEqual(named('invalid-argument/value', /^issues "a": row 1: too short/, bulk));
    }
    await db.issues.put({ id: 'a', ok: true });
    const update = await refused(() => db.issues.update('a', { ok: undefined }));
    expect(update).toEqual(expected);
    expect(await db.issues.count()).toBe(1);
  });

  it('that answers later is refused', async () => {
    for (const answer of [
      async () => ({ value: {} }),
      async () => {
        throw new Error('unheard');
      },
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      () => ({ then: (resolve: (value: unknown) => void) => resolve({ value: {} }) }),
    ]) {
      const db = await store({ issues: define({ key: 'id', schema: schemaOf(answer) }) });
      const expected = named('invalid-argument', /validates asynchronously/);
      expect(await refused(() => db.issues.put({ id: 'a' }))).toEqual(expected);
      expect(await refused(() => db.issues.putMany([{ id: 'a' }]))).toEqual(expected);
      await db.close();
    }
  });

  it('that throws makes its call reject with the exception', async () => {
    const own = new Error('of the schema');
    const schema = schemaOf(() => {
      throw own;
    });
    const db = await store({ issues: define({ key: 'id', schema }) });
    await expect(db.issues.put({ id: 'a' })).rejects.toBe(own);
    await expect(db.issues.putMany([{ id: 'a' }])).rejects.toBe(own);
    await expect(db.transaction((tx: Any) => tx.issues.put({ id: 'a' }))).rejects.toBe(own);
  });

  it('returns the row that is stored, and its key', async () => {
    const schema = schemaOf((value) => ({
      value: { ...(value as Row), id: String((value as Row).id).toLowerCase() },
    }));
    const db = await store({ issues: define({ key: 'id', schema }) });
    await db.issues.put({ id: 'A' });
    await db.issues.putMany([{ id: 'B' }]);
    expect(await db.issues.toArray()).toEqual([{ id: 'a' }, { id: 'b' }]);
    const plain = await store({ issues: define({ key: 'id', schema, validate: false }) });
    await plain.issues.put({ id: 'A' });
    expect(await plain.issues.toArray()).toEqual([{ id: 'A' }]);
  });

  it.each([
    ['refuses what it gives', (n: unknown) => (typeof n === 'string' ? Number(n) : undefined)],
    ['makes another row of it', (n: unknown) => Number(n) + 1],
  ])(
    'that %s is refused at the first put: updates and migrations hand it such rows',
    async (_, made) => {
      const schema = schemaOf((value) => {
        const n = made((value as Row).n);
        const issues = [{ message: 'n is no text', path: ['n'] }];
        return n === undefined ? { issues } : { value: { ...(value as Row), n } };
      });
      const db = await store({ issues: define({ key: 'id', schema }) });
      const row = { id: 'a', n: '1' };
      const expected = named('invalid-argument', /must leave a row as it gives it/, { key: 'a' });
      expect(await refused(() => db.issues.put(row))).toEqual(expected);
      expect(kindOf(await refused(() => db.issues.putMany([row])))).toBe('invalid-argument');
      expect(await db.issues.count()).toBe(0);
    },
  );

  it('returns the stored row of an update', async () => {
    const schema = schemaOf((value) => {
      const { id, n, title } = value as Row;
      return { value: { id, n: Number(n), title: String(title).trim() } };
    });
    const db = await store({ issues: define({ key: 'id', schema }) });
    await db.issues.put({ id: 'a', n: 1, title: 'x' });
    const expected = { id: 'a', n: 5, title: 'y' };
    expect(await db.issues.update('a', { n: '5', title: ' y ', more: 1 })).toEqual(expected);
    expect(await db.issues.get('a')).toEqual(expected);
    const inside = db.transaction((tx: Any) =>
      tx.issues.update('a', () => ({ ...expected, n: '6' })),
    );
    expect(await inside).toEqual({ ...expected, n: 6 });
  });
});
