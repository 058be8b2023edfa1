/** The behaviour of the bindings of all frameworks. Each has a file that mounts its components: see `Framework`. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { type Entry, sorted } from '../../support/models/store-model.js';
import { handles, rest, until, watches } from '../../support/watching.js';
import {
  type Framework,
  gated,
  type Issue,
  isInDocument,
  isReady,
  issueOf,
  keyed,
  last,
  loading,
  ready,
  rowAt,
  rowsOf,
  storeOf,
  tablesOf,
} from './framework.js';
import { ends } from './suite-ends.js';

/** Tests the behaviour that all frameworks share. */
export function behaves(framework: Framework): void {
  const { name, mount, clear } = framework;
  afterEach(() => {
    clear();
    vi.restoreAllMocks();
  });

  describe(`${name}: a shown list`, () => {
    it('is loading, then there, and changes whoever changes it', async () => {
      const [db, other] = await handles(2, `${name} changes`);
      await db.putMany(rowsOf(3));
      const { query, open } = gated(db, { prefix: 'k' });
      const page = await mount('rows', query);
      expect(page.states[0]).toEqual(loading({ rows: [] }));
      await until(() => isInDocument(page));
      open();
      await until(() => isReady(page));
      await db.put('k3', 1);
      await until(() => last(page).rows?.length === 4);
      await other.delete('k0');
      await until(() => last(page).rows?.length === 3);
      expect(last(page)).toEqual(ready({ rows: ['k1', 'k2', 'k3'] }));
      await until(() => isInDocument(page));
    });

    it('is there at once if it is in memory', async () => {
      const db = await storeOf(9);
      const pages = [
        await mount('rows', db, { gte: 'k2', limit: 2 }),
        await mount('row', db, 'k5'),
        await mount('row', db, 'none'),
        await mount('count', db, { gt: 'k5' }),
      ];
      const own = [{ rows: rowsOf(4).slice(2) }, { value: { at: 5 } }, { value: undefined }];
      await until(() => pages.every(({ states }) => states.length > 0));
      expect(pages.map(({ states }) => states[0])).toEqual([...own, { count: 3 }].map(ready));
      await until(() => pages.every(isInDocument));
    });

    it('keeps the objects of unchanged rows, and changes only with its rows', async () => {
      const db = await storeOf(5);
      const page = await mount('rows', db, { gte: 'k1', lte: 'k3' });
      const row = await mount('row', db, 'k2');
      await until(() => isReady(page) && isReady(row));
      const [before = [], { value }] = [last(page).rows, last(row)];
      await db.put('k4', 'outside');
      await db.put('k2', { at: 2 });
      await db.put('k3', 'changed');
      await until(() => keyed(page, 2)?.[1] === 'changed');
      expect(
        last(page)
          .rows?.slice(0, 2)
          .every((row, at) => row === before[at]),
      ).toBe(true);
      expect(last(row).value).toBe(value);
      const shown = new Set(page.states.map(({ rows }) => rows));
      expect([...shown].map((rows) => rows?.length)).toEqual([3, 3]);
    });

    it('has the rows of an index, and the count of a count', async () => {
      const db = await storeOf(6, { indexes: { at: { path: '/at' } } });
      const page = await mount('rows', db, { index: 'at', gte: 3, reverse: true, limit: 2 });
      const count = await mount('count', db, { index: 'at', gte: 3 });
      await until(() => isReady(page) && isReady(count));
      expect(last(page).rows).toEqual([
        ['k5', { at: 5 }, 5],
        ['k4', { at: 4 }, 4],
      ]);
      await db.put('x', { at: 9 });
      await until(() => last(count).count === 4);
      await until(() => keyed(page, 0)?.[0] === 'x');
    });

    it('has the results of table queries, and rows by their keys', async () => {
      const db = await tablesOf(6);
      const opened = (limit: number) =>
        db.issues.where({ state: 'open' }).orderBy('at').limit(limit);
      const page = await mount('rows', opened(2));
      const count = await mount('count', opened(2));
      const row = await mount('row', db.issues, 'i1');
      await db.steps.put({ of: 'i1', at: 2, text: 'two' });
      const step = await mount('row', db.steps, ['i1', 2]);
      await until(() => [page, count, row, step].every(isReady));
      expect(last(page).rows).toEqual([issueOf(0), issueOf(2)]);
      expect(last(count).count).toBe(3);
      expect(last(row).value).toEqual(issueOf(1));
      expect(last(step).value).toEqual({ of: 'i1', at: 2, text: 'two' });
      await db.issues.update('i1', { state: 'open' });
      await until(() => (last(row).value as Issue).state === 'open');
      await until(() => last(count).count === 4);
      await until(() => rowAt<Issue>(page, 1)?.id === 'i1');
      page.set(opened(3));
      await until(() => isReady(page) && last(page).rows?.length === 3);
    });
  });

  describe(`${name}: other arguments`, () => {
    it('keep the last rows, stale, until there are new ones', async () => {
      const db = await storeOf(9);
      const first = gated(db, { offset: 0, limit: 3 });
      const second = gated(db, { offset: 2, limit: 3 });
      first.open();
      const page = await mount('rows', first.query);
      await until(() => isReady(page));
      const { rows } = last(page);
      page.set(second.query);
      await until(() => last(page).isStale);
      expect(last(page)).toEqual({ ...ready({ rows }), isStale: true });
      expect(last(page).rows).toBe(rows);
      await until(() => isInDocument(page));
      second.open();
      await until(() => isReady(page));
      expect(last(page)).toEqual(ready({ rows: ['k2', 'k3', 'k4'], offset: 2 }));
    });

    it('move a window, and keep the objects of shared rows', async () => {
      const db = await storeOf(30);
      const page = await mount('rows', db, { offset: 0, limit: 5 });
      await until(() => isReady(page));
      for (const offset of [2, 4, 20, 19]) {
        const before = last(page).rows ?? [];
        page.set(db, { offset, limit: 5 });
        const wanted = sorted(rowsOf(30)).slice(offset, offset + 5);
        await until(() => JSON.stringify(last(page).rows) === JSON.stringify(wanted));
        const known = new Set(before.map((row) => (row as Entry)[0]));
        const both = (last(page).rows as Entry[]).filter(([key]) => known.has(key));
        for (const row of both) expect(before.includes(row), row[0]).toBe(true);
      }
      await db.put('k', 'first of all');
      await until(() => keyed(page, 0)?.[0] === sorted(rowsOf(30))[18]?.[0]);
    });

    it('show the row of another key, and no row of a key that is absent', async () => {
      const db = await storeOf(3);
      const page = await mount('row', db, 'k0');
      for (const [key, value] of [...rowsOf(3), ['none', undefined]] as const) {
        page.set(db, key);
        await until(
          () => isReady(page) && JSON.stringify(last(page).value) === JSON.stringify(value),
        );
      }
      page.set(db, 'k1');
      await until(() => (last(page).value as { at: number } | undefined)?.at === 1);
      await db.put('k2', 'not shown');
      await db.put('k1', 'shown');
      await until(() => last(page).value === 'shown');
      expect(page.states.map(({ value }) => value)).not.toContain('not shown');
    });

    it('that are equal restart no query', async () => {
      const db = await tablesOf(4);
      const seen = watches(db);
      const queryOf = () => db.issues.where({ state: 'open' }).orderBy('at', 'desc').limit(5);
      const query = await mount('rows', queryOf());
      const range = await mount('rows', db, { gte: 'issues/', lt: 'issues0' });
      const count = await mount('count', db, { prefix: 'issues/' });
      const pages = [query, range, count];
      await until(() => pages.every(isReady));
      await until(() => seen.now === 3);
      const before = pages.map(last);
      query.set(queryOf());
      range.set(db, { lt: 'issues0', reverse: false, gte: 'issues/' });
      count.set(db, { prefix: 'issues/' });
      await rest();
      expect(seen).toEqual({ begun: 3, now: 3 });
      expect(pages.map((page) => last(page).rows)).toEqual(before.map(({ rows }) => rows));
      expect(last(query).rows).toBe(before[0]?.rows);
      await db.issues.put({ id: 'new', state: 'open', at: 100 });
      await until(() => rowAt<Issue>(query, 0)?.id === 'new' && last(count).count === 5);
    });

    it('are missing until the store is open, and again when it has gone', async () => {
      const db = await storeOf(2);
      const seen = watches(db);
      const page = await mount('rows', undefined, { prefix: 'k' });
      const row = await mount('row', null, 'k1');
      const keyless = await mount('row', db, undefined);
      const count = await mount('count', undefined);
      const pages = [page, row, keyless, count];
      await until(() => pages.every(({ states }) => states.length > 0));
      const own = [{ rows: [] }, { value: undefined }, { value: undefined }, { count: undefined }];
      expect(pages.map(last)).toEqual(own.map(loading));
      expect(seen.begun).toBe(0);
      page.set(db, { prefix: 'k' });
      row.set(db, 'k1');
      keyless.set(db, 'k0');
      count.set(db);
      await until(() => pages.every(isReady));
      expect(pages.map(last)).toEqual(
        [{ rows: rowsOf(2) }, { value: { at: 1 } }, { value: { at: 0 } }, { count: 2 }].map(ready),
      );
      page.set(undefined, { prefix: 'k' });
      row.set(db, null);
      keyless.set(null, 'k0');
      count.set(null);
      await until(() => pages.every((one) => last(one).status === 'loading'));
      expect(pages.map(last)).toEqual(own.map(loading));
      await until(() => seen.now === 0);
    });

    it('of another store show the rows there', async () => {
      const [one, two] = [await storeOf(2), await storeOf(5)];
      const seen = watches(one);
      const page = await mount('count', one);
      await until(() => last(page)?.count === 2);
      page.set(two);
      await until(() => last(page).count === 5);
      await until(() => seen.now === 0);
    });
  });

  describe(`${name}: the state of a connection`, () => {
    it('is stopped without one, and follows the one that is there', async () => {
      const [db, other] = [await storeOf(), await storeOf()];
      const [one, two] = [
        await db.connect(bucket(memoryRemote(), { probe: false })),
        await other.connect(bucket(memoryRemote(), { probe: false })),
      ];
      const page = await mount('connection', undefined);
      await until(() => isInDocument(page));
      expect(last(page)).toMatchObject({ status: 'stopped', isPending: false });
      page.set(one);
      one.start({ pauseMs: 0 });
      await until(() => (last(page).status as string) === 'synced');
      expect(last(page)).toEqual(one.state);
      page.set(two);
      await until(() => (last(page).status as string) === 'stopped');
      // The component no longer follows the earlier one.
      const { length } = page.states;
      await one.close();
      await rest();
      expect(page.states.length).toBe(length);
      await until(() => isInDocument(page));
      await two.close();
    });
  });

  ends(framework);
}
