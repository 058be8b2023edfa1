/** Rows that are checked by zod, valibot and arktype. */
import { type } from 'arktype';
import * as v from 'valibot';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import { HedgerowError, memory, open, type Store, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

/** Defines the same rows for each of them: the title loses its spaces, and texts become dates. */
const tables = {
  zod: table({
    schema: z.object({
      id: z.string(),
      title: z.string().trim().min(1),
      votes: z.number().int().default(0),
      due: z.union([z.date(), z.string().pipe(z.coerce.date())]),
      author: z.object({ 'a/b': z.string() }),
    }),
    key: 'id',
    values: 'structured',
    indexes: { byDue: ['due'], byAuthor: ['/author/a~1b'] },
  }),
  valibot: table({
    schema: v.object({
      id: v.string(),
      title: v.pipe(v.string(), v.trim(), v.minLength(1)),
      votes: v.optional(v.pipe(v.number(), v.integer()), 0),
      due: v.pipe(
        v.union([v.date(), v.string()]),
        v.transform((given) => new Date(given)),
        v.date(),
      ),
      author: v.object({ 'a/b': v.string() }),
    }),
    key: 'id',
    values: 'structured',
    indexes: { byDue: ['due'], byAuthor: ['/author/a~1b'] },
  }),
  arktype: table({
    schema: type({
      id: 'string',
      title: type('string')
        .pipe((text) => text.trim())
        .to('string > 0'),
      votes: 'number.integer = 0',
      due: type('string | Date')
        .pipe((given) => new Date(given))
        .to('Date'),
      author: { 'a/b': 'string' },
    }),
    key: 'id',
    values: 'structured',
    indexes: { byDue: ['due'], byAuthor: ['/author/a~1b'] },
  }),
};

const DUE = '2026-01-02T03:04:05.000Z';
const given = (id: string, more: object = {}) => ({
  id,
  title: '  A title ',
  due: DUE,
  author: { 'a/b': 'ann' },
  ...more,
});
const stored = (id: string) => ({
  id,
  title: 'A title',
  votes: 0,
  due: new Date(DUE),
  author: { 'a/b': 'ann' },
});

async function refused(call: Promise<unknown>): Promise<HedgerowError> {
  const error = await call.then(
    () => expect.fail('it was not refused'),
    (cause: unknown) => cause,
  );
  if (error instanceof HedgerowError) return error;
  throw error;
}

describe.each(Object.entries(tables))('%s', (_, definition) => {
  const store = async () => {
    // Their rows have the same types.
    const db = await open('schemas', {
      storage: memory(),
      tables: { rows: definition as typeof tables.zod },
    });
    opened.push(db);
    return db;
  };

  it('returns the stored rows, by each way to put them', async () => {
    const db = await store();
    await db.rows.put(given('a'));
    await db.rows.insert(given('b'));
    await db.rows.putMany([given('c')]);
    await db.rows.putMany(new Blob([JSON.stringify([given('d')])]));
    await db.rows.putMany(new Blob([JSON.stringify(given('e'))]));
    await db.applyPatch([db.rows.op.put(given('f'))]);
    await db.transaction(async (tx) => tx.rows.put(given('g')));
    const ids = [...'abcdefg'];
    expect(await db.rows.toArray()).toEqual(ids.map(stored));
    const [row] = await db.rows.toArray();
    expectTypeOf(row?.due).toEqualTypeOf<Date | undefined>();
    expect(await db.rows.where({ due: new Date(DUE) }).count()).toBe(7);
    expect(await db.rows.where({ '/author/a~1b': 'ann' }).count()).toBe(7);
  });

  it('names the fault, and all of its issues', async () => {
    const db = await store();
    const wrong: [more: object, pointer: string][] = [
      [{ title: '  ' }, '/title'],
      [{ title: 5 }, '/title'],
      [{ votes: 1.5 }, '/votes'],
      [{ due: 'never' }, '/due'],
      [{ author: { 'a/b': 5 } }, '/author/a~1b'],
      [{ author: undefined }, '/author'],
    ];
    for (const [more, pointer] of wrong) {
      const row = given('a', more);
      const error = await refused(db.rows.put(row as never));
      expect(error).toMatchObject({
        ...ofKind('invalid-argument/value'),
        table: 'rows',
        key: 'a',
        pointer,
      });
      expect(error.message).toMatch(/^rows "a": ./);
      expect(error.issues?.length).toBeGreaterThan(0);
      for (const source of [[given('b'), row], new Blob([JSON.stringify([given('b'), row])])]) {
        const bulk = await refused(db.rows.putMany(source as never));
        expect(bulk).toMatchObject({
          ...ofKind('invalid-argument/value'),
          table: 'rows',
          key: 'a',
          pointer,
          row: 1,
        });
      }
    }
    const several = await refused(db.rows.put({ id: 'a', title: 5, votes: 'x' } as never));
    expect(several.issues?.length).toBeGreaterThan(2);
    expect(several.message).toMatch(/, and \d more$/);
    expect(await db.rows.count()).toBe(0);
  });
});

it('a schema that waits is refused', async () => {
  const schemas = {
    zod: z.object({ id: z.string().refine(async () => true) }),
    valibot: v.objectAsync({
      id: v.pipeAsync(
        v.string(),
        v.checkAsync(async () => true),
      ),
    }),
  };
  for (const schema of Object.values(schemas)) {
    const rows = table({ schema, key: 'id' });
    const db = await open('waits', { storage: memory(), tables: { rows } });
    opened.push(db);
    const error = await refused(db.rows.put({ id: 'a' }));
    expect(error).toMatchObject({ ...ofKind('invalid-argument'), table: 'rows' });
    expect(error.message).toMatch(/validates asynchronously/);
  }
});

it('rows are checked in slices, so that timers run in between', async () => {
  // The clock advances with each check only, so that a slice has as many rows on each machine.
  const seen = { ms: 0, now: 0, most: 0 };
  const check = () => {
    seen.ms += 0.1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    return true;
  };
  const plain = z.object({ id: z.string(), text: z.string().min(1), n: z.number().int() });
  const schema = plain.refine(check);
  const db = await open('slices', {
    storage: memory(),
    tables: { rows: table({ schema, key: 'id' }) },
  });
  opened.push(db);
  const rows = Array.from({ length: 30_000 }, (_, n) => ({ id: `${n}`, text: `row ${n}`, n }));
  for (const source of [rows, new Blob([JSON.stringify(rows)])]) {
    let isOver = false;
    const other = () => {
      seen.now = 0;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    Object.assign(seen, { now: 0, most: 0 });
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => seen.ms);
    await db.rows.putMany(source);
    clock.mockRestore();
    isOver = true;
    // A turn has the rows of 100 milliseconds at most, of 3 seconds for all.
    expect(seen.most).toBeGreaterThan(0);
    expect(seen.most).toBeLessThan(1000);
    expect(await db.rows.count()).toBe(30_000);
    await db.rows.clear();
  }
});
