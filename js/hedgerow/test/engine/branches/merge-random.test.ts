/** Random edits and merges of two branches in two tabs, compared with a model. */
import { describe, expect, it } from 'vitest';
import { type Conflict, open, type Store } from '../../../src/index.js';
import { expectStore, type Model, merged, tabs } from '../../support/models/merge-model.js';
import { all, type Entry, expectSame, sorted } from '../../support/models/store-model.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

interface Tally {
  merges: number;
  conflicts: number;
  collections: number;
  snapshots: number;
  resets: number;
}

function edit(from: Random, rows: Model, stamp: number): Entry[] {
  const count = 1 + from.below(from.pick([3, 40]));
  const puts = Array.from({ length: count }, (_, at): Entry => {
    const key = `k${from.below(from.pick([30, 400]))}`;
    const value = from.below(4) === 0 ? from.below(3) : { stamp, at, text: 'x'.repeat(at * 7) };
    return [key, value];
  });
  for (const [key, value] of puts) rows.set(key, value);
  return puts;
}

const KINDS = [
  'putMany',
  'putMany',
  'put',
  'delete',
  'collect',
  'merge',
  'snapshot',
  'reset',
  'read',
];

const SEEDS = 60;

describe('random edits of branches in two tabs', () => {
  it('agree with a model, with collections in between', async () => {
    const tally = { merges: 0, conflicts: 0, collections: 0, snapshots: 0, resets: 0 };
    await forSeeds(SEEDS, (from, _, begin) => run(from, begin, tally));
    console.info(Object.entries(tally).flat().join(' '));
    if (!hasAllSeeds(SEEDS)) return;
    expect(
      Math.min(tally.merges, tally.conflicts, tally.collections, tally.resets),
    ).toBeGreaterThan(SEEDS / 4);
  });

  async function run(from: Random, begin: BeginStep, tally: Tally): Promise<void> {
    const storage = tabs();
    const first = await open('test', { storage });
    const stores = [first, await open('test', { storage })];
    const main: Model = new Map();
    await first.putMany(edit(from, main, 0));
    const draft: Model = new Map(main);
    let base: Model = new Map(main);
    await first.branches.open('draft');
    const handles: { name: 'main' | 'draft'; db: Store; isCollector: boolean }[] = [];
    for (const db of stores) {
      const isCollector = db === first;
      handles.push({ name: 'main', db, isCollector });
      handles.push({ name: 'draft', db: await db.branches.open('draft'), isCollector });
    }
    const rowsOf = { main: () => main, draft: () => draft };
    const held: { snap: ReturnType<Store['snapshot']>; rows: Model }[] = [];
    const set = (name: string, rows: Model) => {
      const target = name === 'main' ? main : draft;
      target.clear();
      for (const [key, value] of rows) target.set(key, value);
    };
    for (let step = 0; step < 25; step++) {
      const { name, db, isCollector } = from.pick(handles);
      const rows = rowsOf[name]();
      const twin = await from.pick(stores).branches.open(name);
      const kind = from.below(9);
      begin({ branch: name, handle: stores.indexOf(db), kind: KINDS[kind] });
      switch (kind) {
        case 0:
        case 1:
          await db.putMany(edit(from, rows, step + 1));
          break;
        case 2: {
          const [[key, value] = ['k0', 0]] = edit(from, new Map(), step + 1);
          rows.set(key, value);
          await db.put(key, value);
          break;
        }
        case 3: {
          const key = `k${from.below(30)}`;
          rows.delete(key);
          await db.delete(key);
          break;
        }
        case 4:
          if (!isCollector) break;
          tally.collections += 1;
          await db.health.compact();
          break;
        case 5: {
          const other = name === 'main' ? 'draft' : 'main';
          const decide = ({ key, ours, theirs }: Conflict) =>
            [ours, theirs, undefined, 'decided'][key.length % 4];
          const expected = merged(base, rows, rowsOf[other](), decide);
          const asked: string[] = [];
          const result = await db.branches.merge(other, {
            onConflict: (conflict) => {
              asked.push(conflict.key);
              return decide(conflict);
            },
          });
          tally.merges += 1;
          tally.conflicts += expected.conflicts.length;
          expect([...new Set(asked)].sort(), 'keys in conflict').toEqual(expected.conflicts);
          expect([result.rows, result.conflicts]).toEqual([
            expected.applied,
            expected.conflicts.length,
          ]);
          base = new Map(rowsOf[other]());
          set(name, expected.result);
          break;
        }
        case 6: {
          // The head of this tab may be outdated: a write moves it to the newest commit.
          await db.put('stamp', step);
          rows.set('stamp', step);
          held.push({ snap: db.snapshot(), rows: new Map(rows) });
          tally.snapshots += 1;
          break;
        }
        case 7: {
          const one = held.shift();
          if (one === undefined) break;
          expectSame(await one.snap.scan().toArray(), sorted(one.rows), 'snapshot');
          // A root that a snapshot of this handle or of another one holds.
          await db.branches.reset(one.snap.root);
          one.snap.close();
          set(name, one.rows);
          tally.resets += 1;
          break;
        }
        default:
          expectSame(await all(twin), sorted(rowsOf[name]()), `rows of ${name}`);
      }
      await twin.close();
      for (const { snap, rows: old } of held) {
        if (from.below(4) === 0) expectSame(await snap.count(), old.size, 'held');
      }
    }
    for (const { snap, rows } of held) {
      expectSame(await snap.scan().toArray(), sorted(rows), 'snapshot at the end');
    }
    const fresh = await open('test', { storage });
    await expectStore(fresh, main, 'main');
    await expectStore(await fresh.branches.open('draft'), draft, 'draft');
    for (const db of [fresh, ...stores]) await db.close();
  }
});
