import * as newest from '@tanstack/db';
import { describe, expect, test, vi } from 'vitest';
import { HedgerowError, memory, open, rowType, table } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { rest, until, watches } from '../../hedgerow/test/support/watching.js';
import { hedgerowCollectionOptions } from '../src/index.js';
import { closing, issue, issues, ready, stores, VERSIONS } from './tanstack-db-issues.js';

describe.each(VERSIONS)(
  '@tanstack/db %s',
  (version, { createCollection, createLiveQueryCollection, eq, count, gte, lt }) => {
    test('a collection has the rows of its table, and the changes of others', async () => {
      const [db, other] = await stores(2);
      await db.issues.putMany(Array.from({ length: 5_000 }, (_, at) => issue(at)));
      const all = createCollection(hedgerowCollectionOptions({ table: db.issues }));
      await all.preload();
      expect(all.size).toBe(5_000);
      expect(all.get('i000004')).toMatchObject(issue(4));

      await other.issues.update('i000004', { title: 'Other' });
      await other.issues.delete('i000005');
      await other.issues.put(issue(9_999));
      await until(() => all.has('i009999'));
      expect(all.get('i000004')?.title).toBe('Other');
      expect(all.has('i000005')).toBe(false);
      await all.cleanup();
    });

    test('a live query joins and aggregates two tables', async () => {
      const [db] = await stores(1);
      await db.people.putMany(['p0', 'p2', 'p4'].map((name) => ({ name, team: `t-${name}` })));
      await db.issues.putMany(Array.from({ length: 20 }, (_, at) => issue(at)));
      const left = createCollection(hedgerowCollectionOptions({ table: db.issues }));
      const right = createCollection(hedgerowCollectionOptions({ table: db.people }));
      const teams = createLiveQueryCollection((q) =>
        q
          .from({ issue: left })
          .innerJoin({ person: right }, ({ issue, person }) => eq(issue.owner, person.name))
          .groupBy(({ person }) => person.team)
          .select(({ person, issue }) => ({ team: person.team, issues: count(issue.id) })),
      );
      await teams.preload();
      const shown = () =>
        Object.fromEntries(teams.toArray.map(({ team, issues }) => [team, issues]));
      expect(shown()).toEqual({ 't-p0': 2, 't-p2': 2, 't-p4': 2 });
      await db.issues.put(issue(100));
      await until(() => shown()['t-p0'] === 3);
      await teams.cleanup();
    });

    test('an on-demand collection has the rows of its queries, up to date', async () => {
      // As in browsers that lack it.
      vi.stubGlobal('AbortSignal', { ...AbortSignal, any: undefined });
      closing.push(() => vi.unstubAllGlobals());
      const [db, other] = await stores(2);
      await db.issues.putMany(Array.from({ length: 100 }, (_, at) => issue(at)));
      const some = createCollection(
        hedgerowCollectionOptions({ table: db.issues, syncMode: 'on-demand' }),
      );
      const closed = createLiveQueryCollection((q) =>
        q
          .from({ issue: some })
          .where(({ issue }) => eq(issue.status, 'closed'))
          .where(({ issue }) => gte(issue.modified, 50))
          .where(({ issue }) => lt(issue.modified, 60)),
      );
      await closed.preload();
      expect(closed.toArray.map(({ id }) => id).sort()).toEqual(['i000051', 'i000054', 'i000057']);
      expect(some.size).toBe(3);
      await other.issues.update('i000055', { status: 'closed' });
      await other.issues.update('i000051', { status: 'open' });
      await until(() => closed.has('i000055') && !closed.has('i000051'));
      expect(some.size).toBe(3);
      await closed.cleanup();
      await until(() => some.size === 0);
    });

    test('cleanup stops all watches', async () => {
      const [db] = await stores(1);
      const seen = watches(db);
      const eager = createCollection(hedgerowCollectionOptions({ table: db.issues }));
      const lazy = createCollection(
        hedgerowCollectionOptions({ table: db.issues, syncMode: 'on-demand' }),
      );
      await eager.preload();
      await ready(eager.insert(issue(1)));
      const query = createLiveQueryCollection((q) => q.from({ one: lazy }));
      await query.preload();
      expect(seen.now).toBe(2);
      expect(seen.begun).toBeGreaterThan(2);
      await query.cleanup();
      await Promise.all([eager.cleanup(), lazy.cleanup()]);
      expect(seen.now).toBe(0);
    });

    test('cleanup during a request for rows leaves no watch', async () => {
      const [db] = await stores(1);
      await db.issues.put(issue(1));
      const seen = watches(db);
      const snapshot = vi.spyOn(db, 'snapshot');
      const begin = snapshot.getMockImplementation() ?? Object.getPrototypeOf(db).snapshot.bind(db);
      // It plans its reads at the first commit, and reads at the second one.
      for (const wanted of [1, 2]) {
        const some = createCollection(
          hedgerowCollectionOptions({ table: db.issues, syncMode: 'on-demand' }),
        );
        const query = createLiveQueryCollection((q) =>
          q.from({ one: some }).where(({ one }) => eq(one.id, 'i000001')),
        );
        let calls = 0;
        const ended = new Promise((resolve) => {
          snapshot.mockImplementation(() => {
            calls += 1;
            if (calls === wanted) resolve(Promise.all([query.cleanup(), some.cleanup()]));
            return begin();
          });
        });
        void query.preload().catch(() => {});
        await ended;
        await rest();
        expect(seen.now).toBe(0);
      }
    });

    test('pages of 100,000 rows read only the shown rows, and follow changes', async () => {
      const [db, other] = await stores(2);
      await db.issues.putMany(Array.from({ length: 100_000 }, (_, at) => issue(at)));
      await db.issues.ready();
      const reads = countReads(db.issues);
      const seen = watches(db);
      const some = createCollection(
        hedgerowCollectionOptions({ table: db.issues, syncMode: 'on-demand' }),
      );
      const page = createLiveQueryCollection((q) =>
        q
          .from({ issue: some })
          .where(({ issue }) => eq(issue.status, 'open'))
          .orderBy(({ issue }) => issue.modified, 'desc')
          .limit(20),
      );
      await page.preload();
      expect(page.toArray.map(({ modified }) => modified)).toEqual(newestOpen(0));
      // The reads include the first rows of the next page, which say where the page ends.
      expect(reads.count).toBeLessThan(60);
      expect(some.size).toBeLessThan(45);
      // The watch covers the open issues.
      expect(vi.mocked(db.watch).mock.lastCall?.[0]).toMatchObject({
        index: 'issues.byState',
        equals: ['open'],
      });

      reads.count = 0;
      await page.utils.setWindow({ offset: 20, limit: 20 });
      await until(() => page.toArray[0]?.modified === newestOpen(1)[0]);
      expect(page.toArray.map(({ modified }) => modified)).toEqual(newestOpen(1));
      expect(reads.count).toBeLessThan(100);

      await page.utils.setWindow({ offset: 0, limit: 20 });
      await other.issues.put(issue(200_000, { status: 'open' }));
      await until(() => page.toArray[0]?.modified === 200_000);
      // After a row of an ordered page was deleted, 0.9 asks for all rows.
      if (version === '0.9') return page.cleanup();
      await other.issues.delete(page.toArray[3]?.id as string);
      await until(() => page.toArray[3]?.modified === newestOpen(0)[3]);
      expect(page.size).toBe(20);
      // A mutation during a request for rows that replace the deleted ones.
      await ready(some.delete(page.toArray[0]?.id as string));
      await until(() => page.size === 20 && page.toArray[0]?.modified === newestOpen(0)[0]);
      await page.cleanup();
      await some.cleanup();
      expect(seen.now).toBe(0);
    });

    test('rows are there after a restart, with dates and bigints, by keys of several parts', async () => {
      interface Entry {
        book: string;
        page: number;
        read?: Date;
        size: bigint;
      }
      const entries = table({
        schema: rowType<Entry>(),
        key: ['book', 'page'],
        values: 'structured',
      });
      const storage = memory();
      const opening = () => open('books', { storage, tables: { entries } });
      const db = await opening();
      const mine = createCollection(hedgerowCollectionOptions({ table: db.entries }));
      const entry = { book: 'a', page: 10, read: new Date(0), size: 2n ** 70n };
      await ready(mine.insert(entry));
      await ready(mine.insert({ book: 'a', page: 9, size: 1n }));
      await mine.cleanup();
      await db.close();
      const again = await opening();
      closing.push(() => again.close());
      const theirs = createCollection(hedgerowCollectionOptions({ table: again.entries }));
      await theirs.preload();
      expect(theirs.get(JSON.stringify(['a', 10]))).toMatchObject(entry);
      await ready(theirs.delete(JSON.stringify(['a', 10])));
      expect(await again.entries.toArray()).toEqual([{ book: 'a', page: 9, size: 1n }]);
      await theirs.cleanup();
    });
  },
);

test('a collection goes on after its commit was collected, and after a failure of storage', async () => {
  const [db, other] = await stores(2);
  await db.issues.putMany(Array.from({ length: 50 }, (_, at) => issue(at)));
  const mine = newest.createCollection(hedgerowCollectionOptions({ table: db.issues }));
  await mine.preload();
  for (const code of ['missing-chunk', 'unavailable/storage'] as const) {
    await other.issues.delete(`i00000${code.length % 10}`);
    await other.issues.put(issue(1, { title: code }));
    await until(() => db.root === other.root && mine.get('i000001')?.title === code);
    const diff = vi.spyOn(db.history, 'diff').mockImplementationOnce(() => {
      throw new HedgerowError(code, 'as if');
    });
    await ready(mine.insert(issue(code.length + 1_000)));
    expect(diff).toHaveBeenCalled();
    await until(() => mine.has(issue(code.length + 1_000).id));
    expect([...mine.keys()].sort()).toEqual((await db.issues.toArray()).map(({ id }) => id));
    diff.mockRestore();
  }
  await mine.cleanup();
});

test('arguments are checked', async () => {
  const [db] = await stores(1);
  const refused = (given: unknown) =>
    expect(() => hedgerowCollectionOptions(given as never)).toThrowError(
      expect.objectContaining(ofKind('invalid-argument')),
    );
  refused(undefined);
  refused({});
  refused({ table: issues });
  refused({ table: db.snapshot().issues });
  refused({ table: db.issues, getKey: () => 1 });
  refused({ table: db.issues, schema: {} });
});

/** Returns the times of the open issues of a page of 20, the newest first. */
function newestOpen(page: number): number[] {
  const open = Array.from({ length: 200 }, (_, at) => 99_999 - at).filter((at) => at % 3 !== 0);
  return open.slice(20 * page, 20 * page + 20);
}

/** Counts the rows that a table decodes. */
function countReads(of: object): { count: number } {
  const { spec } = (of as { place: { spec: { rowOf: (...row: never[]) => unknown } } }).place;
  const { rowOf } = spec;
  const reads = { count: 0 };
  spec.rowOf = (...row) => {
    reads.count += 1;
    return rowOf(...row);
  };
  return reads;
}
