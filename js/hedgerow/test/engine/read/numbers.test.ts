/** The numbers of rows and of entries, and scans after a number, compared with sorted arrays. */
import { describe, expect, it } from 'vitest';
import type { EntryPosition, SecondaryKey } from '../../../src/core/indexes/index-range.js';
import type { IndexOrderOptions, OrderOptions } from '../../../src/engine/read/rank-options.js';
import { memory, open, type Snapshot, type Store, type Transaction } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { type IndexedEntry, rankOf } from '../../support/models/index-model.js';
import {
  choosePalette,
  definitionsOf,
  KEYS,
  modelOf,
  positionIn,
  rangeOf,
  rowValue,
} from '../../support/models/indexed-rows.js';
import {
  type Entry,
  expectSame,
  failure,
  rankIn,
  select,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSampled, forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

type Reads = Pick<Store & Transaction, 'at' | 'rank' | 'scan' | 'count'>;

const keyOf = (at: number) => `${['city', 'issue', 'ü'][at % 3]}/${String(at).padStart(5, '0')}`;
const bytesOrObject = (at: number) =>
  at % 10 === 0 ? new Uint8Array(at % 40 === 0 ? 6000 : 3).fill(at) : { at };

/** Compares numbers in a random range with the model. */
async function checkRange(db: Reads, rows: readonly Entry[], from: Random): Promise<void> {
  const bound = () => {
    const [key] = from.pick(rows);
    return from.pick([key, `${key}\0`, key.slice(0, from.below(key.length + 1)), `${key}~`, '']);
  };
  const options: OrderOptions = {
    ...from.pick([{}, {}, { gt: bound() }, { gte: bound() }]),
    ...from.pick([{}, {}, { lt: bound() }, { lte: bound() }]),
    ...from.pick([{}, {}, { prefix: (bound() || 'c').slice(0, 1 + from.below(9)) }]),
    reverse: from.next() < 0.5,
  };
  const expected = select(rows, options);
  const count = expected.length;
  for (const n of [0, count - 1, count, count + 1, from.below(count + 2), 2 ** 53]) {
    if (n >= 0) expectSame(await db.at(n, options), expected[n], `${n} of ${count}`);
  }
  for (const key of [bound(), bound(), expected[from.below(count)]?.[0] ?? '']) {
    const rank = rankIn(expected, key, options.reverse);
    expect(await db.rank(key, options), key).toBe(rank);
    const limit = from.pick([1, 5, undefined]);
    const offset = from.pick([0, 3]);
    const after = { ...options, after: key, offset, limit };
    expectSame(await db.scan(after).toArray(), select(rows, after), key);
    expectSame(
      await db.scan(after).keys().toArray(),
      select(rows, after).map(([own]) => own),
    );
  }
}

/** Puts and deletes random rows of a transaction, and of `rows`. */
function edit(tx: Transaction, rows: readonly Entry[], from: Random): Entry[] {
  const edited = new Map(rows);
  for (let left = from.below(40); left > 0; left--) {
    const [stored] = from.pick(rows);
    const key = from.pick([stored, stored, `${stored}x`, `${stored}\0`]);
    if (from.next() < 0.5) {
      tx.put(key, { edit: left });
      edited.set(key, { edit: left });
    } else {
      tx.delete(key);
      edited.delete(key);
    }
  }
  return sorted(edited);
}

describe('numbers of rows', () => {
  const rows = sorted(
    Array.from({ length: 3000 }, (_, at): Entry => [keyOf(at), bytesOrObject(at)]),
  );

  it('equal the positions in a sorted array, in any range and both directions', async () => {
    const db = await storeOf(rows);
    const some = [...rows.entries()].filter(([n]) => n % 7 === 0);
    await forSampled(some, async ([n, row]) => {
      expectSame(await db.at(n), row);
      expect(await db.rank(row[0])).toBe(n);
      expectSame(await db.at(n, { reverse: true }), rows.at(-1 - n), 'in reverse');
      expect(await db.rank(row[0], { reverse: true })).toBe(rows.length - 1 - n);
    });
    await forSeeds(60, async (from, _, begin) => {
      begin('a range');
      await checkRange(db, rows, from);
    });
  });

  it('count the commit that a snapshot or a branch reads', async () => {
    const db = await storeOf(rows);
    const snapshot: Snapshot = db.snapshot();
    const draft = await db.branches.open('draft');
    const gone = rows.filter((_, at) => at % 3 === 0).map(([key]) => key);
    const added = Array.from({ length: 500 }, (_, at): Entry => [`d/${at}`, at]);
    await db.deleteMany(gone);
    await draft.putMany(added);
    const deleted = new Set(gone);
    await forSeeds(15, async (from, _, begin) => {
      begin('a range');
      await checkRange(snapshot, rows, from);
      await checkRange(
        db,
        rows.filter(([key]) => !deleted.has(key)),
        from,
      );
      await checkRange(draft, sorted([...rows, ...added]), from);
    });
    snapshot.close();
    await expect(snapshot.at(0)).rejects.toEqual(failure('closed'));
    await expect(snapshot.rank('a')).rejects.toEqual(failure('closed'));
    await draft.close();
  });

  it('include the edits of the same handle, and edits of a transaction', async () => {
    const db = await storeOf([['b', 1]]);
    void db.put('a', 0);
    expect(await db.at(0)).toEqual(['a', 0]);
    void db.delete('a');
    expect(await db.rank('b')).toBe(0);
    const store = await storeOf(rows);
    await forSeeds(40, async (from, _, begin) => {
      await store
        .transaction(async (tx) => {
          for (let step = 0; step < 3; step++) {
            begin({ step });
            const edited = edit(tx, step === 0 ? rows : await tx.scan().toArray(), from);
            await checkRange(tx, edited, from);
          }
          throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
    });
    // Each row between two edits, each edit, and their ends.
    await store.transaction(async (tx) => {
      const some = rows.slice(0, 12);
      for (const at of [2, 3, 5, 11]) tx.delete(some[at]?.[0] ?? '');
      for (const at of [0, 5, 6]) tx.put(`${some[at]?.[0]}x`, at);
      tx.put(some[1]?.[0] ?? '', 'mine');
      for (const reverse of [false, true]) {
        const options = { lte: `${some.at(-1)?.[0]}`, reverse };
        const seen = await tx.scan(options).toArray();
        for (let n = 0; n <= seen.length; n++) expectSame(await tx.at(n, options), seen[n], `${n}`);
        for (const [n, [key]] of seen.entries()) expect(await tx.rank(key, options)).toBe(n);
      }
      for (const [key] of rows) tx.delete(key);
      expect(await tx.at(0, { lte: `${some[5]?.[0]}` })).toEqual([`${some[0]?.[0]}x`, 0]);
    });
  });

  it('do not exist in an empty store', async () => {
    const db = await storeOf();
    expect(await db.at(0)).toBeUndefined();
    expect(await db.at(0, { prefix: 'a', reverse: true })).toBeUndefined();
    expect(await db.rank('a')).toBe(0);
    await db.transaction(async (tx) => {
      expect(await tx.at(0)).toBeUndefined();
      tx.put('a', 1);
      expect(await tx.at(0)).toEqual(['a', 1]);
      expect(await tx.rank('b')).toBe(1);
    });
  });
});

describe('numbers of entries', () => {
  it('and scans after a position equal a sorted array', async () => {
    await forSeeds(60, async (from, seed, begin) => {
      choosePalette(from);
      const indexes = definitionsOf(from);
      const db = await open(`numbers ${seed}`, { storage: memory(), indexes });
      const rows = new Map(KEYS.map((key) => [key, rowValue(from)]));
      await db.putMany(rows);
      const check = async (read: Reads, held: ReadonlyMap<string, unknown>) => {
        const wanted = { ...rangeOf(from, indexes), reverse: from.next() < 0.5 };
        const options = wanted as IndexOrderOptions;
        begin(options);
        const expected = modelOf(held, indexes, options);
        for (let n = 0; n <= expected.length; n++) {
          expectSame(await read.at(n, options), expected[n], `number ${n}`);
        }
        const positions: EntryPosition[] = expected.map(([key, , secondary]) => [secondary, key]);
        positions.push(positionIn(from, indexes, options.index));
        for (const at of positions) {
          expect(await read.rank(at, options)).toBe(rankOf(expected, at, options.reverse));
          const scan = { ...options, after: at, offset: from.below(2), limit: 1 + from.below(3) };
          expectSame(await read.scan(scan).toArray(), modelOf(held, indexes, scan), 'after');
        }
      };
      await check(db, rows);
      const snapshot = db.snapshot();
      await db.transaction(async (tx) => {
        const edited = new Map(rows);
        for (let step = 0; step < 4; step++) {
          for (const key of from.shuffle(KEYS).slice(0, from.below(4))) {
            const value = rowValue(from);
            if (from.below(3) > 0) {
              tx.put(key, value);
              edited.set(key, value);
            } else {
              tx.delete(key);
              edited.delete(key);
            }
          }
          await check(tx, edited);
        }
        tx.put('none', 0);
      });
      await check(snapshot, rows);
      await db.close();
    });
  });

  it('page through many rows with one secondary key, both ways', async () => {
    const indexes = { state: { path: ['/state', '/n'] }, tags: { path: '/tags' } };
    const db = await open('test', { storage: memory(), indexes });
    const value = (at: number) => ({
      state: at % 2 ? 'open' : 'closed',
      n: 7,
      tags: ['x', 'y', 'x'],
    });
    await db.putMany(Array.from({ length: 2500 }, (_, at): Entry => [keyOf(at), value(at)]));
    for (const options of [{ index: 'state', equals: 'open' }, { index: 'tags' }]) {
      for (const reverse of [false, true]) {
        const all = await db.scan({ ...options, reverse }).toArray();
        const seen: [string, unknown, SecondaryKey][] = [];
        let after: EntryPosition | undefined;
        for (;;) {
          const page = await db.scan({ ...options, reverse, after, limit: 97 }).toArray();
          if (page.length === 0) break;
          seen.push(...page);
          const [key, , secondary] = page.at(-1) as (typeof seen)[0];
          after = [secondary, key];
        }
        expectSame(seen, all);
        expect(seen).toHaveLength(options.index === 'tags' ? 5000 : 1250);
        for (const n of [0, 1, 96, 97, 1249, seen.length - 1]) {
          const entry = await db.at(n, { ...options, reverse });
          expectSame(entry, all[n]);
          const [key, , secondary] = entry as IndexedEntry;
          expect(await db.rank([secondary, key], { ...options, reverse })).toBe(n);
        }
      }
    }
  });

  it('wait for the index, unless an option says not to', async () => {
    const storage = memory();
    const plain = await open('test', { storage });
    await plain.putMany(Array.from({ length: 50 }, (_, at): Entry => [`k${at + 10}`, { n: at }]));
    await plain.close();
    const db = await open('test', { storage, indexes: { n: { path: '/n' } } });
    const options = { index: 'n', wait: false };
    await expect(db.at(0, options)).rejects.toEqual(failure('not-ready'));
    await expect(db.rank([5, 'k15'], options)).rejects.toEqual(failure('not-ready'));
    expect(await db.at(49, { index: 'n' })).toEqual(['k59', { n: 49 }, 49]);
    expect(await db.rank([5, 'k15'], { index: 'n' })).toBe(5);
  });
});

describe('bad arguments', () => {
  const NO_NUMBERS = [
    -1,
    Number.NaN,
    0.5,
    -0.5,
    2 ** 52 - 0.5,
    -(2 ** 53),
    -Infinity,
    null,
    '1',
    1n,
  ];
  const NO_POSITIONS = [null, 5, 'a', {}, [], ['a'], ['a', 'k', 'k'], new Map()];

  it('are refused with a typed error, and numbers above all rows return `undefined`', async () => {
    const indexes = { s: { path: '/s' }, two: { path: ['/s', '/t'] } };
    const db = await open('test', { storage: memory(), indexes });
    await db.putMany([['a', { s: 'x', t: 1 }]]);
    const snapshot = db.snapshot();
    await db.transaction(async (tx) => {
      for (const read of [db, snapshot, tx] as Reads[]) {
        const refused = async (call: () => Promise<unknown>, kind = 'invalid-argument') =>
          expect(call, kind).rejects.toMatchObject({ name: 'HedgerowError', ...ofKind(kind) });
        for (const n of [...NO_NUMBERS, undefined, {}, Symbol('n')]) {
          await refused(() => read.at(n as number));
          await refused(() => read.at(n as number, { index: 's' }));
        }
        for (const n of [1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e300, Infinity]) {
          expect(await read.at(n)).toBeUndefined();
          expect(await read.at(n, { index: 's', reverse: true })).toBeUndefined();
        }
        expect(await read.at(-0)).toEqual(['a', { s: 'x', t: 1 }]);
        for (const at of NO_POSITIONS) {
          await refused(() => read.rank(at as never, { index: 's' }));
          await refused(() => read.scan({ index: 's', after: at as never }).toArray());
        }
        for (const secondary of ['x', ['x'], ['x', 1, 2], ['x', null], [], null]) {
          await refused(() => read.rank([secondary as never, 'a'], { index: 'two' }));
          await refused(() =>
            read.scan({ index: 'two', after: [secondary as never, 'a'] }).toArray(),
          );
        }
        for (const key of [5, null, undefined, ['x', 'a'], '\ud800', 'k'.repeat(1025)]) {
          await refused(() => read.rank(key as string), 'invalid-argument/key');
          await refused(
            () => read.rank(['x', key as string], { index: 's' }),
            'invalid-argument/key',
          );
          if (key === undefined) continue;
          await refused(
            () => read.scan({ after: key as string }).toArray(),
            'invalid-argument/key',
          );
        }
        // A malformed bound is refused, though the cut would replace it.
        await refused(
          () => read.scan({ gt: 5 as never, after: 'a' }).toArray(),
          'invalid-argument/key',
        );
        await refused(() => read.scan({ gt: 'a', gte: 'a', after: 'b' }).toArray());
        await refused(() => read.rank('b', { lt: 'a', lte: 'a' }));
        await refused(() => read.rank(['x', 'a'], { index: 'none' }));
        await refused(() => read.at(0, { limit: 5 } as never));
        await refused(() => read.count({ after: 'a' } as never));
        await refused(() => read.at(0, { equals: 'x' } as never));
      }
    });
    const signal = AbortSignal.abort('enough');
    await expect(db.at(0, { signal })).rejects.toEqual(failure('aborted', { cause: 'enough' }));
    await expect(db.rank('a', { signal })).rejects.toEqual(failure('aborted', { cause: 'enough' }));
  });
});
