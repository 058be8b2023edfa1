/** The bindings of all frameworks when something ends, fails, or changes at random. */
import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { failure, select, sorted } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { handles, rest, until, watches } from '../../support/watching.js';
import {
  type Framework,
  gated,
  isInDocument,
  isReady,
  keyed,
  last,
  ready,
  storeOf,
} from './framework.js';

/** Tests ends, failures and random changes. */
export function ends({ name, mount }: Framework): void {
  describe(`${name}: a component that is unmounted`, () => {
    it('leaves no watch, and shows no more', async () => {
      const db = await storeOf(5);
      const seen = watches(db);
      const pages = [
        await mount('rows', db, { limit: 2 }),
        await mount('row', db, 'k1'),
        await mount('count', db),
        await mount('rows', db, { limit: 2 }),
      ];
      await until(() => pages.every(isReady));
      await until(() => seen.now === 2);
      for (const page of pages) page.unmount();
      await until(() => seen.now === 0);
      const count = pages.map(({ states }) => states.length);
      await db.put('k1', 'unseen');
      await rest();
      expect(pages.map(({ states }) => states.length)).toEqual(count);
    });

    it('finds the earlier rows when it is mounted again', async () => {
      const db = await storeOf(5);
      const seen = watches(db);
      const { query, open } = gated(db, { limit: 2 });
      open();
      const before = await mount('rows', query);
      await until(() => isReady(before));
      before.unmount();
      const after = await mount('rows', query);
      await until(() => after.states.length > 0);
      expect(after.states[0]).toEqual(ready({ rows: ['k0', 'k1'] }));
      expect(after.states[0]?.rows).toBe(last(before).rows);
      await db.delete('k0');
      await until(() => last(after).rows?.[0] === 'k1');
      expect(seen.begun).toBe(1);
      after.unmount();
      await until(() => seen.now === 0);
    });
  });

  describe(`${name}: an error`, () => {
    it('of a closed store is shown with the earlier rows', async () => {
      const db = await storeOf(3);
      const page = await mount('rows', db);
      await until(() => isReady(page));
      const { rows } = last(page);
      await db.close();
      await until(() => last(page).status === 'error');
      expect(last(page)).toEqual({
        status: 'error',
        rows,
        offset: 0,
        isStale: false,
        error: failure('closed'),
      });
      expect(last(page).rows).toBe(rows);
      const late = await mount('count', db);
      await until(() => last(late)?.status === 'error');
      expect(last(late).error).toEqual(failure('closed'));
    });

    it('of a deleted branch ends when it is there again', async () => {
      const db = await storeOf(3);
      const draft = await db.branches.open('draft');
      const page = await mount('count', draft);
      await until(() => isReady(page));
      await db.branches.delete('draft');
      await until(() => last(page).status === 'error');
      expect(last(page)).toMatchObject({ count: 3, error: failure('not-found/branch') });
      await db.put('more', 1);
      await db.branches.open('draft');
      await until(() => last(page).count === 4 && last(page).status === 'ready');
    });

    it('of refused arguments is shown until there are others', async () => {
      const db = await storeOf(3);
      const page = await mount('rows', db, { limit: -1 });
      const row = await mount('row', db, 5);
      const count = await mount('count', db, { limit: 1 });
      const none = await mount('rows', 'no store');
      const pages = [page, row, count, none];
      await until(() => pages.every((one) => last(one)?.status === 'error'));
      const codes = pages.map((one) => kindOf(last(one).error));
      const argument = 'invalid-argument';
      expect(codes).toEqual([argument, 'invalid-argument/key', argument, argument]);
      expect(String(last(none).error)).toContain('takes a store');
      page.set(db, { limit: 2 });
      row.set(db, 'k1');
      await until(() => isReady(page) && isReady(row));
      const { rows } = last(page);
      page.set(db, { limit: '2' });
      await until(() => last(page).status === 'error');
      expect(last(page)).toMatchObject({ rows, isStale: true, error: failure(argument) });
      page.set(db, { limit: 2 });
      await until(() => isReady(page));
      await db.delete('k0');
      await until(() => keyed(page, 0)?.[0] === 'k1');
    });

    it('that a source throws is shown, and goes when the row has changed', async () => {
      const db = await storeOf(2);
      const rowOf = (_: string, value: unknown) => {
        if (value === 'bad') throw new HedgerowError('invalid-argument/value', 'this one');
        return value;
      };
      const page = await mount('rows', { source: () => ({ db, options: {}, rowOf }) });
      await until(() => isReady(page));
      await db.put('k1', 'bad');
      await until(() => last(page).error !== undefined);
      // The row is left out, and holds back no other.
      expect(last(page)).toMatchObject({
        status: 'ready',
        error: failure('invalid-argument/value'),
      });
      expect(last(page).rows?.length).toBe(1);
      await db.put('k1', 'good');
      await until(() => last(page).error === undefined && last(page).rows?.[1] === 'good');
    });
  });

  it(`${name}: random windows, commits of two handles and moves show the rows of the store`, async () => {
    await forSeeds(3, async (from, seed, begin) => {
      const dbs = await handles(2, `${name} ${seed}`);
      const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
      const optionsOf = () => ({
        offset: from.below(4),
        limit: from.below(6),
        reverse: from.next() < 0.5,
        ...(from.next() < 0.5 ? { gte: from.pick(keys) } : {}),
      });
      const shown = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const own = { db: from.pick(dbs), options: optionsOf() };
          return { ...own, page: await mount('rows', own.db, own.options) };
        }),
      );
      for (let step = 0; step < 12; step++) {
        const moved = from.pick(shown);
        const edits = Array.from({ length: 1 + from.below(4) }, () => {
          const value = from.next() < 0.3 ? undefined : from.pick([0, [1], { x: 2 }]);
          return [from.pick(keys), value] as const;
        });
        moved.options = optionsOf();
        begin({ edits, moved: moved.options });
        if (from.next() < 0.3) moved.db = from.pick(dbs);
        moved.page.set(moved.db, moved.options);
        await from.pick(dbs).transaction(async (tx) => {
          for (const [key, value] of edits) {
            if (value === undefined) tx.delete(key);
            else tx.put(key, value);
          }
        });
        await until(() => new Set(dbs.map(({ root }) => root)).size === 1);
        const all = sorted(await dbs[0].scan().toArray());
        for (const { page, options } of shown) {
          const expected = JSON.stringify(select(all, options));
          const isThere = () => isReady(page) && JSON.stringify(last(page).rows) === expected;
          await until(isThere).catch(() => {});
          expect(JSON.stringify(last(page).rows)).toBe(expected);
          await until(() => isInDocument(page));
        }
      }
      for (const { page } of shown) page.unmount();
      await Promise.all(dbs.map((db) => db.close()));
    });
  });
}
