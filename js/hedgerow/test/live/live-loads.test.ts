/** Lists and counts that are shown while many rows come read their rows again, and follow no long diff. */
import { describe, expect, it, vi } from 'vitest';
import { memory, open, rowType, type Store, table } from '../../src/index.js';
import { live, liveCount } from '../../src/live/index.js';
import { rest, until } from '../support/watching.js';
import { keyOf, keysOf, listened, range, rowsOf, storeOf } from './live-store.js';

/** Counts the changes that watches of a store get in each call; `undefined` for too many. */
function watched(db: Store) {
  const calls: (number | undefined)[] = [];
  const watch = db.watch.bind(db);
  vi.spyOn(db, 'watch').mockImplementation((from, take, options) => {
    const taken = Object.assign(
      (...[changes, at]: Parameters<typeof take>) => {
        calls.push(changes?.length);
        return take(changes, at);
      },
      // The limit is a member of the callback.
      Object.fromEntries(
        Object.getOwnPropertySymbols(take).map((name) => [name, take[name as never]]),
      ),
    );
    return watch(from, taken as typeof take, options);
  });
  return calls;
}

const MANY = 3000;
const numbered = table({ schema: rowType<{ id: string; kind: number }>(), key: 'id' });

describe('many changes at once', () => {
  it.each([
    ['the first rows', { limit: 20 }, range(0, 20)],
    ['the last rows', { limit: 20, reverse: true }, range(MANY - 20, MANY).reverse()],
    ['rows behind others', { limit: 10, offset: 100 }, range(100, 110)],
    ['a range', { gte: keyOf(500), lt: keyOf(2000), limit: 5 }, range(500, 505)],
    ['all rows', {}, range(0, MANY)],
  ])('show %s, read again', async (_, options, keys) => {
    const db = await storeOf();
    const calls = watched(db);
    const shown = live(db, options);
    listened(shown);
    await until(() => shown.get().status === 'ready');
    await db.putMany(rowsOf(MANY));
    await until(() => keysOf(shown).length === keys.length);
    expect(keysOf(shown)).toEqual(keys);
    expect(calls).toContain(undefined);
    // It goes on by changes.
    const first = keys[0] as string;
    await db.put(first, 'changed');
    await until(() => shown.get().rows.some((row) => row[1] === 'changed'));
    expect(calls.at(-1)).toBe(1);
    await db.close();
  });

  it('leave counts right', async () => {
    const db = await storeOf();
    const calls = watched(db);
    const all = liveCount(db);
    listened(all);
    await until(() => all.get().count === 0);
    await db.putMany(rowsOf(MANY));
    await until(() => all.get().count === MANY);
    expect(calls).toContain(undefined);
    await db.deleteMany({ prefix: 'k0' });
    await until(() => all.get().count === MANY - 1000);
    await db.close();
  });

  it('leave a filtered list right, which follows more of them', async () => {
    const db = await open('live', { storage: memory(), tables: { rows: numbered } });
    const calls = watched(db);
    const shown = live(db.rows.where({ kind: 1 }).scan().limit(3));
    const count = liveCount(db.rows.where({ kind: 1 }).scan());
    listened(shown);
    listened(count);
    await until(() => count.get().count === 0);
    const rows = Array.from({ length: 11_000 }, (_, at) => ({ id: keyOf(at), kind: at % 3 }));
    await db.rows.putMany(rows.slice(0, 2000));
    await until(() => count.get().count === 667);
    expect(calls).not.toContain(undefined);
    await db.rows.putMany(rows.slice(2000).map((row) => ({ ...row, id: `a${row.id}` })));
    await until(() => count.get().count === 3667);
    expect(calls).toContain(undefined);
    await until(() => shown.get().rows[0]?.id === `a${keyOf(10_000)}`);
    await db.close();
  });

  it('reach watches of an app whole', async () => {
    const db = await storeOf();
    const got: number[] = [];
    db.watch({}, (changes) => got.push(changes.length));
    const shown = live(db, { limit: 5 });
    listened(shown);
    await until(() => shown.get().status === 'ready');
    await db.putMany(rowsOf(MANY));
    await until(() => keysOf(shown).length === 5 && got.length > 0);
    await rest();
    expect(got.reduce((sum, count) => sum + count, 0)).toBe(MANY);
    await db.close();
  });

  it('by an index show its first rows', async () => {
    const db = await storeOf(0, { indexes: { byKind: { path: '/kind' } } });
    const calls = watched(db);
    const shown = live(db, { index: 'byKind', equals: 2, limit: 7 });
    listened(shown);
    await until(() => shown.get().status === 'ready');
    await db.putMany(rowsOf(MANY));
    await until(() => keysOf(shown).length === 7);
    expect(keysOf(shown)).toEqual([2, 5, 8, 11, 14, 17, 20].map(keyOf));
    expect(calls).toContain(undefined);
    await db.close();
  });
});
