/** Random commits by several handles, watched in random ranges: copies equal the store. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildKeyRange } from '../../../src/base/range.js';
import { IntervalTree } from '../../../src/engine/watch/interval-tree.js';
import { intervalOf, isEmpty } from '../../../src/engine/watch/key-interval.js';
import type { KeyRange } from '../../../src/index.js';
import { compareKeys, type Entry, select } from '../../support/models/store-model.js';
import { line } from '../../support/one-line.js';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { Copy, handles, rest } from '../../support/watching.js';

const SEEDS = 40;

/** Keys of few characters; some of them have a different order in UTF-16. */
const CHARS = [
  '',
  'a',
  'b',
  '\0',
  '\x7f',
  '\ud7ff',
  '\ue000',
  '\uff5e',
  '\uffff',
  '\u{1f600}',
  '\u{10ffff}',
];
const keyFrom = (from: Random) => from.pick(CHARS) + from.pick(CHARS) + from.pick(CHARS);

function rangeFrom(from: Random): KeyRange {
  const range: Record<string, string> = {};
  if (from.next() < 0.4) range.prefix = from.pick(CHARS) + from.pick(CHARS);
  if (from.next() < 0.4) range[from.pick(['gt', 'gte'])] = keyFrom(from);
  if (from.next() < 0.4) range[from.pick(['lt', 'lte'])] = keyFrom(from);
  return buildKeyRange(range);
}

afterEach(() => void vi.restoreAllMocks());

describe('an interval', () => {
  it('contains the keys of its range, and no others', async () => {
    await forSeeds(3000, async (from) => {
      const range = rangeFrom(from);
      const { low, high } = intervalOf(range);
      const key = keyFrom(from);
      const isIn = compareKeys(low, key) <= 0 && (high === undefined || compareKeys(key, high) < 0);
      expect(isIn, `${line(range)} holds ${line(key)}`).toBe(
        select([[key, 0]], range).length === 1,
      );
    });
  });

  it('is found among others by a position in it', async () => {
    await forSeeds(100, async (from) => {
      const count = from.pick([0, 1, 2, 10, 50]);
      const intervals = Array.from({ length: count }, () => intervalOf(rangeFrom(from)));
      const full = intervals.filter((interval) => !isEmpty(interval));
      const matcher = new IntervalTree(full);
      const keys = Array.from({ length: 40 }, () => keyFrom(from));
      for (const key of from.next() < 0.5 ? keys.sort(compareKeys) : keys) {
        const expected = full.filter(
          ({ low, high }) =>
            compareKeys(low, key) <= 0 && (high === undefined || compareKeys(key, high) < 0),
        );
        const found = matcher.at(key);
        expect(new Set(found), line(key)).toEqual(new Set(expected));
        expect(found.length, line(key)).toBe(expected.length);
        if (found.length > 0) continue;
        const lows = full.map(({ low }) => low).filter((low) => compareKeys(low, key) > 0);
        expect(matcher.next, `after ${line(key)}`).toBe(lows.sort(compareKeys)[0]);
      }
    });
  });
});

it('copies equal the store after each random history', async () => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
  const reportedBy = () => reported.mock.calls.map(([error]) => (error as Error).message);
  let [throws, rejections, calls] = [0, 0, 0];
  await forSeeds(SEEDS, async (from, seed, begin) => {
    const dbs = await handles(from.pick([2, 3]), `random ${seed}`);
    let rows: Entry[] = [];
    const watching = new Set<{ range: KeyRange; copy: Copy; stop(): void }>();

    const watch = () => {
      const db = from.pick(dbs);
      const range = rangeFrom(from);
      const copy = new Copy();
      const kind = from.below(6);
      let isFirst = true;
      const stop = db.watch(
        range,
        (...told) => {
          calls += 1;
          copy.take(...told);
          // Other watches begin and end during its calls.
          if (!isFirst && kind === 0 && watching.size < 30) watch();
          if (!isFirst && kind === 1 && watching.size > 3) end(from.pick([...watching]));
          isFirst = false;
          if (kind === 2) return rest(from.below(4));
          if (kind === 3) {
            throws += 1;
            throw new Error('thrown');
          }
          if (kind === 4) {
            rejections += 1;
            return rest(1).then(() => Promise.reject(new Error('rejected')));
          }
          return undefined;
        },
        { initial: true },
      );
      watching.add({ range, copy, stop });
    };
    const end = (watcher: { copy: Copy; stop(): void }) => {
      watcher.stop();
      const { calls } = watcher.copy;
      watching.delete(watcher as never);
      ended.push(() => expect(watcher.copy.calls, 'a call after stop').toBe(calls));
    };
    const ended: (() => void)[] = [];

    const commit = async () => {
      const db = from.pick(dbs);
      const edits = Array.from(
        { length: from.pick([1, 1, 3, 60, 400]) },
        (): Entry => [keyFrom(from), from.next() < 0.3 ? undefined : from.pick([0, 1, [2], null])],
      );
      const what = from.below(5);
      const kind = ['putMany', 'deleteMany'][what] ?? 'transaction';
      begin({ handle: dbs.indexOf(db), kind, edits: edits.slice(0, 5), watchers: watching.size });
      if (what === 0) await db.putMany(edits.filter(([, value]) => value !== undefined));
      else if (what === 1) {
        const range = rangeFrom(from);
        await (Object.keys(range).length === 0 ? db.clear() : db.deleteMany(range));
      } else {
        await db.transaction(async (tx) => {
          for (const [key, value] of edits) {
            if (value === undefined) tx.delete(key);
            else tx.put(key, value);
          }
        });
      }
      rows = await db.scan().toArray();
    };

    const agree = async () => {
      for (const watcher of watching) {
        // Another watch's callback may have ended it.
        const isOver = () => !watching.has(watcher);
        await watcher.copy.becomes(rows, watcher.range, isOver);
      }
    };

    for (let step = 0; step < 12; step++) {
      for (let count = from.below(4); count > 0; count--) watch();
      if (watching.size > 0 && from.next() < 0.3) end(from.pick([...watching]));
      await commit();
      if (from.next() < 0.5) await rest(from.below(3));
      if (from.next() < 0.4) {
        await agree();
      }
    }
    await agree();
    // A copy may agree before it hears of commits that cancel each other out.
    await rest();
    const before = [...watching].map(({ copy }) => copy.calls);
    await rest(10);
    expect(
      [...watching].map(({ copy }) => copy.calls),
      'calls, when nothing changes',
    ).toEqual(before);
    for (const check of ended) check();
    // A copy throws a mismatch in its callback, so that it is reported.
    const wrong = reportedBy().filter((message) => !/^(thrown|rejected)$/.test(message));
    expect(wrong, 'what copies found wrong').toEqual([]);
    await Promise.all(dbs.map((db) => db.close()));
  });
  const messages = reportedBy();
  expect(messages.filter((message) => message === 'thrown').length).toBe(throws);
  expect(messages.filter((message) => message === 'rejected').length).toBeLessThanOrEqual(
    rejections,
  );
  if (hasAllSeeds(SEEDS)) expect(Math.min(throws, rejections)).toBeGreaterThan(20);
  console.log(`${calls} calls, of which ${throws} threw and ${rejections} were rejected`);
});
