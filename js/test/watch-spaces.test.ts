/** Watching the entries of an index: they come from the changes of rows. */
import { expect, it } from 'vitest';
import { Commits } from '../src/commit.js';
import { Engine } from '../src/engine.js';
import { Host } from '../src/host.js';
import { type Change, memory } from '../src/index.js';
import { Pins } from '../src/pins.js';
import { putMany } from '../src/put-many.js';
import type { KeyRange } from '../src/range.js';
import type { Space } from '../src/watch/gather.js';
import { Watchers } from '../src/watch/watchers.js';
import { compareKeys, type Entry, expectSame, select } from './model.js';
import { forSeeds } from './random.js';
import { until } from './watching.js';

/** A store without its face. */
async function parts() {
  const engine = await Engine.create(1 << 20);
  const host = new Host(engine, await memory().open('spaces'), 8);
  const pins = await Pins.open(undefined, true, 'spaces', async () => {});
  const commits = new Commits(host, pins);
  await commits.refresh();
  const watchers = new Watchers(host, commits);
  commits.onMoved = () => watchers.moved();
  return { host, commits, watchers };
}

/** Lists rows by each of their tags. */
function byTags(commits: Commits): Space {
  return {
    rows: { prefix: 'k' },
    entriesOf(key, value) {
      const { tags = [] } = value as { tags?: string[] };
      return [...new Set(tags)].map((tag) => ({ position: `${tag}\0${key}`, secondary: tag }));
    },
    hold: () => commits.holdHead(),
    startScan() {
      throw new Error('there is no index to scan');
    },
  };
}

it('tells the ordered changes of entries, to each watcher those in its range', async () => {
  await forSeeds(6, async (from) => {
    const { host, commits, watchers } = await parts();
    const space = byTags(commits);
    const tags = ['a', 'ab', 'b', '\uff5e', '\u{1f600}'];
    const ranges: KeyRange[] = [
      {},
      { prefix: 'a\0' },
      { prefix: 'a' },
      { gte: 'b\0', lt: 'b\x01' },
      { gt: '\uff5e' },
      { lte: 'ab\0k5' },
    ];
    const copies = ranges.map((range) => ({ range, rows: new Map<string, unknown>(), calls: 0 }));
    for (const copy of copies) {
      const take = (changes: readonly Change[]) => {
        copy.calls += 1;
        expect(changes.length).toBeGreaterThan(0);
        let last: string | undefined;
        for (const change of changes) {
          const position = `${change.secondary}\0${change.key}`;
          if (last !== undefined) expect(compareKeys(last, position)).toBeLessThan(0);
          last = position;
          expect(copy.rows.has(position)).toBe(change.op !== 'add');
          if (change.op !== 'add') expectSame(change.oldValue, copy.rows.get(position));
          if (change.op === 'del') copy.rows.delete(position);
          else copy.rows.set(position, change.newValue);
        }
      };
      watchers.watch(copy.range, take, {}, space);
    }
    const plain = { rows: new Map<string, unknown>() };
    watchers.watch(
      { prefix: 'k' },
      (changes) => {
        for (const { key, ...change } of changes) {
          expect(change).not.toHaveProperty('secondary');
          if (change.op === 'del') plain.rows.delete(key);
          else plain.rows.set(key, change.newValue);
        }
      },
      {},
    );
    const model = new Map<string, { tags?: string[] }>();
    // More than are sorted at once.
    const sizes = [5, 3000, 40, 40, 3000];
    for (const size of sizes) {
      const edits = Array.from({ length: size }, () => {
        const own = from.shuffle(tags).slice(0, from.below(4));
        const value = from.next() < 0.1 ? {} : { tags: own, n: from.below(3) };
        return [from.pick(['k', 'other']) + from.below(3000), value] as const;
      });
      await putMany(host, commits, edits, { durability: 'relaxed' });
      for (const [key, value] of edits) model.set(key, value);
      const deleted = from.shuffle([...model.keys()]).slice(0, size / 4);
      await putMany(host, commits, deleted, { durability: 'relaxed', deletes: true });
      for (const key of deleted) model.delete(key);
      const entries = [...model]
        .filter(([key]) => key.startsWith('k'))
        .flatMap(([key, value]) =>
          space.entriesOf(key, value).map(({ position }): Entry => [position, value]),
        )
        .sort(([a], [b]) => compareKeys(a, b));
      const order = (rows: Map<string, unknown>) =>
        [...rows].sort(([a], [b]) => compareKeys(a, b)) as Entry[];
      for (const { range, rows } of copies) {
        const expected = select(entries, range);
        const text = JSON.stringify(expected);
        await until(() => JSON.stringify(order(rows)) === text);
      }
      const own = [...model.keys()].filter((key) => key.startsWith('k'));
      // The last one to be told.
      await until(() => plain.rows.size === own.length);
      expect(own.every((key) => plain.rows.has(key))).toBe(true);
    }
    expect(copies[0]?.calls).toBeLessThanOrEqual(2 * sizes.length);
    await watchers.close();
  });
});
