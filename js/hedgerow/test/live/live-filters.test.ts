/** Live queries of words, or with conditions that no index answers, show the rows of a naive filter after each change. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open, rowType, table } from '../../src/index.js';
import { live, liveCount } from '../../src/live/index.js';
import { SOON } from '../support/models/store-model.js';
import { forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { rest, until } from '../support/watching.js';

interface Issue {
  id: string;
  title: string;
  status: 'open' | 'closed';
  owner: string;
  rank: number;
}
const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byRank: ['rank'], byWord: [{ words: 'title' }, 'rank'], byStatus: ['status', 'rank'] },
});
const WORDS = ['red', 'reed', 'green', 'gate', 'leak', 'late'];
const OWNERS = ['ann', 'bob', 'cy'];

/** Two handles of one store: the second makes changes that the first only hears of. */
async function twoHandles() {
  const storage = { ...memory(), isShared: true };
  const openOne = () => open('filtered', { storage, tables: { issues } });
  return [await openOne(), await openOne()] as const;
}

type Db = Awaited<ReturnType<typeof twoHandles>>[0];

const issueOf = (from: Random, id: string): Issue => ({
  id,
  title: `${from.pick(WORDS)} ${from.pick(WORDS)}`,
  status: from.pick(['open', 'closed']),
  owner: from.pick(OWNERS),
  rank: from.below(8),
});

/** A query with conditions that a scan or an index of words answers, and a window. */
function queryOf(from: Random, db: Db) {
  const all = from.pick([
    () => db.issues.where({ owner: from.pick(OWNERS) }).scan(),
    () =>
      db.issues
        .where({ owner: from.pick(OWNERS), status: 'open' })
        .scan()
        .orderBy('rank'),
    () =>
      db.issues
        .where({ owner: 'ann', rank: { gte: from.below(8) } })
        .scan()
        .orderBy('rank', 'desc'),
    () =>
      db.issues
        .where({ status: 'open', title: { words: from.pick(['re', 'l', 'g']) } })
        .scan()
        .orderBy('rank'),
    () => db.issues.where({ title: { words: from.pick(['re', 'la g', 'leak', 're gr']) } }),
  ])();
  const few = from.below(2) === 0 ? all : all.limit(1 + from.below(6));
  return from.below(2) === 0 ? few : few.offset(from.below(4));
}

async function run(from: Random): Promise<void> {
  const [db, other] = await twoHandles();
  const ids = Array.from({ length: 24 }, (_, at) => `i${at}`);
  await db.issues.putMany(ids.slice(0, 12).map((id) => issueOf(from, id)));
  const queries = Array.from({ length: 5 }, () => queryOf(from, db));
  const lists = queries.map((query) => live(query));
  const counts = queries.map((query) => liveCount(query));
  let calls = 0;
  for (const shown of [...lists, ...counts])
    shown.subscribe(() => {
      calls += 1;
    });
  for (let step = 0; step < 12; step++) {
    const by = from.pick([db, other]);
    const [id, second] = [from.pick(ids), from.pick(ids)];
    await from.pick([
      () => by.issues.put(issueOf(from, id)),
      () => by.issues.delete(id),
      () => by.issues.putMany([issueOf(from, id), issueOf(from, second)]),
      () => by.issues.update(id, (row) => ({ ...row, rank: from.below(8) })),
    ])();
    if (from.below(3) > 0) continue;
    const root = by.root;
    await until(() => db.root === root);
    for (const [at, query] of queries.entries()) {
      const rows = await query.toArray();
      const all = await query.offset(0).limit(1000).count();
      await expect.poll(() => lists[at]?.get().rows, SOON).toEqual(rows);
      await expect.poll(() => counts[at]?.get().count, SOON).toBe(all);
    }
  }
  expect(calls).toBeGreaterThan(0);
  await Promise.all([db.close(), other.close()]);
}

afterEach(() => void vi.restoreAllMocks());

describe('a live query with conditions that are tested', () => {
  it('shows the rows of a fresh read, and their number', async () => {
    await forSeeds(40, run);
  });

  it('follows changes by their diff, and does not read for rows that it does not want', async () => {
    const [db] = await twoHandles();
    const row = (id: string, owner: string, rank: number): Issue => {
      return { id, title: 'red gate', status: 'open', owner, rank };
    };
    await db.issues.putMany([row('a', 'ann', 1), row('b', 'bob', 2), row('c', 'ann', 3)]);
    const shown = live(db.issues.where({ owner: 'ann' }).scan().orderBy('rank'));
    let calls = 0;
    shown.subscribe(() => {
      calls += 1;
    });
    const idsOf = () =>
      shown
        .get()
        .rows.map(({ id }) => id)
        .join('');
    await until(() => idsOf() === 'ac');
    await rest();
    const snapshot = vi.spyOn(db, 'snapshot');
    const [first] = shown.get().rows;
    const before = calls;
    await db.issues.put(row('d', 'bob', 0));
    await rest();
    expect(calls).toBe(before);
    // A row that begins to be wanted, and one that ceases to be.
    await db.issues.put(row('d', 'ann', 2));
    await until(() => idsOf() === 'adc');
    expect(shown.get().rows[0]).toBe(first);
    await db.issues.put(row('c', 'cy', 3));
    await until(() => idsOf() === 'ad');
    expect(snapshot).not.toHaveBeenCalled();
  });

  it('of words reads again only for a row with them, and shows it once', async () => {
    const [db] = await twoHandles();
    const row = (id: string, title: string): Issue => {
      return { id, title, status: 'open', owner: 'ann', rank: 1 };
    };
    await db.issues.putMany([row('a', 'red reed'), row('b', 'green gate')]);
    const shown = live(db.issues.where({ title: { words: 're' } }));
    const total = liveCount(db.issues.where({ title: { words: 're' } }));
    shown.subscribe(() => {});
    total.subscribe(() => {});
    const idsOf = () =>
      shown
        .get()
        .rows.map(({ id }) => id)
        .sort()
        .join('');
    await until(() => idsOf() === 'a' && total.get().count === 1);
    const snapshot = vi.spyOn(db, 'snapshot');
    await db.issues.put(row('b', 'green leak'));
    await rest();
    expect(snapshot).not.toHaveBeenCalled();
    await db.issues.put(row('b', 'reed red'));
    await until(() => idsOf() === 'ab' && total.get().count === 2);
  });

  it('shares its rows with an equal one, and not with one of other values', async () => {
    const [db] = await twoHandles();
    await db.issues.putMany([
      { id: 'a', title: 'red', status: 'open', owner: 'ann', rank: 1 },
      { id: 'b', title: 'red', status: 'open', owner: 'bob', rank: 2 },
    ]);
    const of = (owner: string) => live(db.issues.where({ owner }).scan());
    const [one, same, another] = [of('ann'), of('ann'), of('bob')];
    for (const shown of [one, same, another]) shown.subscribe(() => {});
    await until(() => [one, another].every((shown) => shown.get().rows.length === 1));
    expect(one.get().rows).toBe(same.get().rows);
    expect(another.get().rows).toMatchObject([{ id: 'b' }]);
  });

  it('takes no function, since two functions cannot be compared', async () => {
    const [db] = await twoHandles();
    const odd = db.issues.all().filter((row) => row.rank % 2 === 1);
    expect(() => live(odd)).toThrow('live takes no filter()');
  });
});
