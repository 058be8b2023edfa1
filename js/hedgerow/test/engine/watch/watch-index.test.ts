/** Watching the entries of an index: copies equal the results of scans. */
import { expect, it } from 'vitest';
import { buildKeyRange } from '../../../src/base/range.js';
import type { IndexRange } from '../../../src/core/indexes/index-range.js';
import { type Change, memory, open, type Store } from '../../../src/index.js';
import { compareKeys, failure } from '../../support/models/store-model.js';
import { line } from '../../support/one-line.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { until } from '../../support/watching.js';

const TAGS = ['', 'a', 'ab', 'b', 'A, B', '\0', '\uff5e', '\u{1f600}'];
const indexes = {
  byTag: { path: '/tags', prefix: 'k' },
  byBoth: { path: ['/n', '/tags'] },
  old: { path: '/n', nulls: true, below: 2 },
  words: { path: ['/n', { words: '/tags' }], nulls: true },
};

function rangeFrom(from: Random): IndexRange {
  const tag = () => from.pick(TAGS);
  const both = () => (from.next() < 0.5 ? from.below(3) : [from.below(3), tag()]);
  return from.pick<() => IndexRange>([
    () => ({ index: 'byTag' }),
    () => ({ index: 'byTag', equals: tag() }),
    () => ({ index: 'byTag', ...buildKeyRange({ prefix: tag() }) }),
    () => ({ index: 'byTag', gte: tag(), lt: tag() }),
    () => ({ index: 'byTag', gt: tag() }),
    () => ({ index: 'byBoth' }),
    () => ({ index: 'byBoth', equals: both() }),
    () => ({ index: 'byBoth', lte: both(), gt: -1 }),
    () => ({ index: 'byBoth', equals: from.below(3), gt: tag() }),
    () => ({ index: 'byBoth', equals: [from.below(3)], ...buildKeyRange({ prefix: tag() }) }),
    () => ({ index: 'old' }),
    () => ({ index: 'old', lte: null }),
    () => ({ index: 'words', equals: from.pick([null, 1]) }),
    () => ({ index: 'words', equals: 2, prefix: 'a' }),
  ])();
}

/** A copy of the entries in a range of an index, in the order of the reports. */
class Listed {
  readonly rows = new Map<string, readonly [string, unknown, unknown]>();
  calls = 0;
  readonly #isInitial: boolean;

  constructor(isInitial: boolean) {
    this.#isInitial = isInitial;
  }

  readonly take = (changes: readonly Change[]) => {
    this.calls += 1;
    if (this.calls > 1 || !this.#isInitial) expect(changes.length).toBeGreaterThan(0);
    for (const change of changes) {
      const { key, secondary } = change;
      const place = JSON.stringify([secondary, key]);
      expect(this.rows.has(place), place).toBe(change.op !== 'insert');
      if (change.op !== 'insert') expect(this.rows.get(place)?.[1]).toEqual(change.oldValue);
      if (change.op === 'delete') this.rows.delete(place);
      else this.rows.set(place, [key, change.newValue, secondary]);
    }
  };

  async is(db: Store, range: IndexRange): Promise<void> {
    const listed = await db.scan(range).toArray();
    const expected = new Map(listed.map((row) => [JSON.stringify([row[2], row[0]]), row]));
    const isThere = () =>
      this.rows.size === expected.size &&
      [...expected].every(
        ([place, row]) => JSON.stringify(this.rows.get(place)) === JSON.stringify(row),
      );
    const message = `what watching told of ${line(range)}`;
    await until(isThere).catch(() => expect([...this.rows.values()], message).toEqual(listed));
  }
}

it('copies equal the index after random commits', async () => {
  await forSeeds(10, async (from, seed, begin) => {
    const db = await open(`indexed ${seed}`, { storage: memory(), indexes });
    const watching: { range: IndexRange; copy: Listed }[] = [];
    for (let step = 0; step < 8; step++) {
      const range = rangeFrom(from);
      const isEmpty = (await db.scan(range).toArray()).length === 0;
      const copy = new Listed(!isEmpty);
      db.watch(range, copy.take, { initial: !isEmpty });
      watching.push({ range, copy });
      const edits = Array.from({ length: from.pick([1, 20, 600]) }, () => {
        const tags = from.shuffle(TAGS).slice(0, from.below(4));
        const value = from.pick<unknown>([
          { tags, n: from.below(3) },
          { tags: tags[0], n: 1 },
          { n: 2 },
          { n: null, tags: 'b A' },
          7,
        ]);
        return [from.pick(['k', 'other']) + from.below(300), value] as const;
      });
      begin({ range, edits: edits.length, first: edits[0] });
      if (from.next() < 0.5) await db.putMany(edits);
      else
        await db.transaction(async (tx) => {
          for (const [key, value] of edits) {
            if (from.next() < 0.2) tx.delete(key);
            else tx.put(key, value);
          }
        });
      if (from.next() < 0.2) await db.deleteMany({ prefix: `k${from.below(9)}` });
      for (const { range, copy } of watching) await copy.is(db, range);
    }
    await db.close();
  });
});

it('changes come in the order of secondary keys, then of keys', async () => {
  const db = await open('ordered', { storage: memory(), indexes });
  const told: (readonly Change[])[] = [];
  db.watch({ index: 'byTag' }, (changes) => void told.push(changes));
  await db.putMany([
    ['k1', { tags: ['\u{1f600}', 'b'] }],
    ['k2', { tags: ['\uff5e', 'b'] }],
    ['j', { tags: 'a' }],
  ]);
  await until(() => told.length === 1);
  const told0 = told[0]?.map(({ op, key, secondary }) => [op, secondary, key]);
  expect(told0).toEqual([
    ['insert', 'b', 'k1'],
    ['insert', 'b', 'k2'],
    ['insert', '\uff5e', 'k2'],
    ['insert', '\u{1f600}', 'k1'],
  ]);
  await db.put('k1', { tags: ['b', 'a'] });
  await until(() => told.length === 2);
  const value = { tags: ['b', 'a'] };
  const old = { tags: ['\u{1f600}', 'b'] };
  expect(told[1]).toEqual([
    { op: 'insert', key: 'k1', secondary: 'a', newValue: value },
    { op: 'update', key: 'k1', secondary: 'b', oldValue: old, newValue: value },
    { op: 'delete', key: 'k1', secondary: '\u{1f600}', oldValue: old },
  ]);
  // More entries than are sorted without a break.
  const many = Array.from(
    { length: 9000 },
    (_, at) => [`k${at}`, { tags: [`t${(at * 7919) % 9000}`] }] as const,
  );
  await db.putMany(many);
  await until(() => told.length === 3);
  const places = told[2]?.map(({ key, secondary }) => `${secondary}\0${key}`) as string[];
  expect(places).toEqual([...places].sort(compareKeys));
  expect(places.length).toBe(9000 + 4);
  expect(() => db.watch({ index: 'none' }, () => {})).toThrow(failure('invalid-argument'));
  expect(() => db.watch({ index: 'byTag', equals: 'a', gt: 'b' }, () => {})).toThrow(
    failure('invalid-argument'),
  );
  await db.close();
});
